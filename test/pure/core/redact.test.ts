import { describe, expect, test } from 'vitest';
import { redact, secretValues } from '../../../src/base/pure/redact.ts';
import { alnum, key, lower, SHAPES } from '../../support/secret-shapes.ts';

describe('what is taken out', () => {
  test('there are at least fifty shapes', () => expect(SHAPES.length).toBeGreaterThanOrEqual(50));
  test.each(SHAPES)('%s', (_, text, secret) => {
    expect(redact(text)).not.toContain(secret);
    expect(redact(text)).toContain('[redacted]');
  });
  test.each(SHAPES)('%s in the middle of a log', (_, text, secret) => {
    const log = `2026-01-02T03:04:05Z INFO before\n${text}\n2026-01-02T03:04:06Z INFO after`;
    expect(redact(log)).not.toContain(secret);
    expect(redact(log)).toMatch(/^2026-01-02T03:04:05Z INFO before\n/);
    expect(redact(log)).toMatch(/\n2026-01-02T03:04:06Z INFO after$/);
  });
  test.each(SHAPES)('%s, and nothing more the second time', (_, text) =>
    expect(redact(redact(text))).toBe(redact(text)),
  );
});

/** Near to a secret, and worth reading. */
describe('what stays', () => {
  test.each([
    ['a commit', 'at commit 9fceb02d0ae598e95dc970b74767f19372d61af8'],
    ['a UUID', 'request 123e4567-e89b-12d3-a456-426614174000'],
    ['a digest', 'image sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'],
    ['an image in base64', 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk'],
    ['a certificate', `-----BEGIN CERTIFICATE-----\n${alnum(64)}\n-----END CERTIFICATE-----`],
    ['a public key', `-----BEGIN PUBLIC KEY-----\n${alnum(64)}\n-----END PUBLIC KEY-----`],
    ['a host and its port', 'listening on http://127.0.0.1:8080/path?x=1'],
    ['a host with a telling name', 'GET http://token-service:8080/health'],
    ['a user without password', 'git clone ssh://git@github.com/a/b'],
    ['an address of mail', 'sent to someone@example.com'],
    ['a frame of a file with a telling name', '    at verify (/srv/app/src/token.js:18:16)'],
    ['a Java frame with a telling name', '\tat com.acme.TokenService.check(TokenService.java:31)'],
    ['a Ruby frame with a telling name', "app/password.rb:5:in 'check': no (RuntimeError)"],
    ['a .NET frame with a telling name', '   at A.B() in /src/Secret.cs:line 12'],
    ['an error with a telling name', 'InvalidTokenError: Signature verification failed'],
    ['a sentence about a token', 'invalid token: signature verification failed'],
    ['a syntax error', "SyntaxError: Unexpected token ';'"],
    ['a count of tokens', 'max_tokens=4096 prompt_tokens: 120'],
    ['a missing value', 'API_KEY=undefined password: null token=None'],
    ['a variable in code', 'password = os.environ["DB_PASSWORD"]'],
    ['a variable in JavaScript', 'const token = process.env.GITHUB_TOKEN;'],
    ['a variable of a shell', ['TOKEN=$', '{GITHUB_TOKEN}'].join('')],
    ['where a shell stands', 'PWD=/srv/app OLDPWD=/srv'],
    ['where a secret lies', 'password_file=/run/secrets/db --token-file /run/secrets/t'],
    ['tests that passed', 'tests passed: 45, bypassing: 3'],
    ['a missing variable', "KeyError: 'DB_PASSWORD'"],
    ['words that begin like a key', 'disk-usage task-runner-of-the-night-shift sk-learn-pipeline-steps'],
    ['basic things', 'basic authentication failed for bearer something'],
    ['a sentence about a key', "ValueError: expected '-----BEGIN PRIVATE KEY-----', got something else\nnext line"],
    ['names of packages', 'npm_config_cache npm_lifecycle_event hf_hub pypi-server'],
    ['an import error', "ImportError: cannot import name 'TokenStore' from 'auth.tokens' (/srv/app/auth/tokens.py)"],
  ])('%s', (name, text) => {
    if (name === 'a sentence about a key') expect(redact(text)).toContain('next line');
    else expect(redact(text)).toBe(text);
  });
});

describe('keys over several lines', () => {
  const lines = key(
    'PRIVATE KEY',
    Array.from({ length: 20 }, () => alnum(64)),
  ).split('\n');
  test.each([
    ['whole', lines],
    ['without its beginning', lines.slice(5)],
    ['without its end', lines.slice(0, -4)],
    ['behind prefixes', lines.map((line) => `web-1  | 2026-01-02T03:04:05Z ${line}`)],
    ['behind prefixes, without its beginning', lines.slice(3).map((line) => `web-1  | ${line}`)],
  ])('%s', (_, some) => {
    const text = redact(['before', ...some, 'after it all'].join('\n'));
    expect(text).not.toContain(alnum(16));
    expect(text).toMatch(/^before\n/);
    expect(text).toMatch(/\nafter it all$/);
  });
  test('in one line of JSON that was cut', () => {
    const cut = `{"private_key":"${lines.join('\\n')}`;
    expect(redact(cut.slice(0, -300))).not.toContain(alnum(16));
    expect(redact(cut.slice(100))).not.toContain(alnum(16));
  });
});

describe('secrets that were cut in half', () => {
  const known = ['hunter2-zebra-giraffe'];
  const cut = { start: true, end: true };
  test('the end of a known value at the beginning', () =>
    expect(redact('zebra-giraffe and more', known, cut)).toBe('[redacted] and more'));
  test('the beginning of a known value at the end', () =>
    expect(redact('it is hunter2-ze', known, cut)).toBe('it is [redacted]'));
  test('a few equal letters are chance', () => expect(redact('the hunt', known, cut)).toBe('the hunt'));
  test.each(['ghp_a1B2c3', 'sk-a1B2c3', 'AKIAA1B2', 'eyJhbGciOi', 'xoxb-1234', 'glpat-a1b2'])('%s at the end', (text) =>
    expect(redact(`got ${text}`, [], cut)).toBe('got [redacted]'),
  );
  test('the same words elsewhere are left alone', () =>
    expect(redact('got sk-a1B2c3 here', [], cut)).toBe('got sk-a1B2c3 here'));
  test('the password of a URL that ends in it', () =>
    expect(redact('to postgres://app:hunt', [], cut)).toBe('to postgres://app:[redacted]'));
  test('a port at the end is no password', () =>
    expect(redact('to http://127.0.0.1:8080', [], cut)).toBe('to http://127.0.0.1:8080'));
  test('the password of a URL that begins in it', () =>
    expect(redact('ter2@db:5432/app failed', [], cut)).toBe('[redacted]@db:5432/app failed'));
  test('an open quote', () => expect(redact('password="hunter2 zebra')).toBe('password=[redacted]'));
});

describe('known values', () => {
  test('are also found as in a URL, in JSON, and line by line', () => {
    const known = secretValues({ DB_PASS: 'p@ss "word"/1', KEY: `${alnum(20)}\n${lower(20)}`, LOG: 'debug' });
    expect(redact(`u=${encodeURIComponent('p@ss "word"/1')} j=${JSON.stringify('p@ss "word"/1')}`, known)).toBe(
      'u=[redacted] j="[redacted]"',
    );
    expect(redact(`> ${lower(20)}`, known)).toBe('> [redacted]');
  });
  test('the password of an address', () =>
    expect(secretValues({ DATABASE_URL: 'postgres://app:zebra@db/app', HOME: '/root' })).toEqual(['zebra']));
  test('switches and places are no secrets', () =>
    expect(secretValues({ AUTH: 'true', TOKEN_FILE: '/run/t', SSH_AUTH_SOCK: '/tmp/a', SECRET: 'none' })).toEqual([]));
});

/** Hiding one must never take away what another is told by. */
describe('a known value switches nothing off', () => {
  test.each([
    ['password', 'password=hunter2-zebra', 'hunter2-zebra'],
    ['password', '{"password": "hunter2-zebra"}', 'hunter2-zebra'],
    ['postgres', 'postgres://app:hunter2-zebra@db/app', 'hunter2-zebra'],
    ['postgres://', 'postgres://app:hunter2-zebra@db/app', 'hunter2-zebra'],
    ['test', `sk_test_${alnum(24)}`, alnum(24)],
    ['sk_test_', `sk_test_${alnum(24)}`, alnum(24)],
    ['Bearer', `sent Bearer ${alnum(30)}`, alnum(30)],
    ['-----BEGIN', key('PRIVATE KEY'), alnum(30)],
    ['authorization', `Authorization: Digest response="${lower(32)}"`, lower(32)],
    ['token=', 'token=hunter2-zebra', 'hunter2-zebra'],
  ])('that is %j', (value, text, secret) => {
    expect(redact(text, [value])).not.toContain(secret);
    expect(redact(text, secretValues({ DB_PASSWORD: value }))).not.toContain(secret);
  });
  test.each(SHAPES)('whichever it is: %s', (_, text, secret) => {
    const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && !secret.includes(word));
    for (const word of words) expect(redact(text, [word])).not.toContain(secret);
  });
});

describe('an ordinary word is no known value', () => {
  const words = ['password', 'Postgres', 'test', 'true', 'admin', 'root', '8080', '12', '    ', '****', 'aaaa', ''];
  test.each(words)('%j', (value) => {
    expect(secretValues({ DB_PASSWORD: value })).toEqual([]);
    const text = `${value} in a sentence: password authentication failed for user "postgres" on port 8080`;
    expect(redact(text, [value])).toBe(text);
  });
  test('yet behind a telling name it is hidden', () =>
    expect(redact('DB_PASSWORD=postgres', secretValues({ DB_PASSWORD: 'postgres' }))).toBe('DB_PASSWORD=[redacted]'));
});

describe('what is coloured', () => {
  const paint = (text: string) => `\u001b[1;32m${text}\u001b[0m`;
  test.each([
    ['a name and its value', `${paint('password')}=${paint('hunter2-zebra')} next`],
    ['all of it', `${paint('password=hunter2-zebra')} next`],
    ['the sign between', `token${paint('=')}hunter2-zebra next`],
    ['a key of JSON', `{${paint('"api_key"')}: ${paint('"hunter2-zebra"')}} next`],
    ['half of a known value', `it is hunter2${paint('-zebra')} next`],
    ['a title', '\u001b]0;password=hunter2-zebra\u0007 next'],
  ])('%s', (_, text) => {
    const clean = redact(text, ['hunter2-zebra']);
    expect(clean).not.toContain('zebra');
    expect(clean).toContain('next');
  });
  test.each(SHAPES)('%s right behind a colour', (_, text, secret) =>
    expect(redact(`a${paint(text)}b`)).not.toContain(secret),
  );
  test('colours themselves stay', () =>
    expect(redact(`${paint('ready')} password=${paint('zebra')}`)).toBe(
      `${paint('ready')} password=${paint('[redacted]')}`,
    ));
});

describe('passwords of addresses', () => {
  test.each([
    ['an @ in it', 'postgres://u:p@zebra@db:5432/app', 'postgres://u:[redacted]@db:5432/app'],
    ['three of them', 'amqp://u:p@q@zebra@mq/', 'amqp://u:[redacted]@mq/'],
    ['a slash in it', 'mysql://u:p/zebra@db/app', 'mysql://u:[redacted]@db/app'],
    ['an address in quotes, then a mail address', '"redis://:zebra@db","a@b.c"', '"redis://:[redacted]@db","a@b.c"'],
  ])('%s', (_, text, clean) => expect(redact(text)).toBe(clean));
  test.each([
    'http://localhost:4873/@scope/package',
    'http://[::1]:4873/@scope/package',
    'GET http://token-service:8080/users/a@b.c',
  ])('%s has none', (text) => expect(redact(text)).toBe(text));
});

describe('names that say where a secret lies', () => {
  test('their value may have one in it', () =>
    expect(redact('token_url=https://x.example/?token=zebra-1')).toBe('token_url=https://x.example/?token=[redacted]'));
});
