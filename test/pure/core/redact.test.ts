import { describe, expect, test } from 'vitest';
import { redact, secretValues } from '../../../src/core/redact.ts';

/** Text like a secret, without a secret being in this file: scanners of repositories look for these shapes too. */
const alnum = (length: number) => 'a1B2c3D4e5F6g7H8'.repeat(12).slice(0, length);
const lower = (length: number) => 'a1b2c3d4e5f6'.repeat(16).slice(0, length);
const upper = (length: number) => 'A1B2C3D4E5F6'.repeat(16).slice(0, length);
const key = (kind: string, body: readonly string[] = [alnum(64), alnum(64), `${alnum(30)}==`]) =>
  [`-----BEGIN ${kind}-----`, ...body, `-----END ${kind}-----`].join('\n');

/** Each with the part that must not be left, and a name. */
const SHAPES: readonly (readonly [name: string, text: string, secret: string])[] = [
  ['AWS key id', `id AKIA${upper(16)} used`, upper(16)],
  ['AWS temporary key id', `ASIA${upper(16)}`, upper(16)],
  ['AWS secret key', `aws_secret_access_key = ${alnum(40)}`, alnum(40)],
  ['AWS session token', `AWS_SESSION_TOKEN=${alnum(80)}`, alnum(80)],
  ['AWS MWS token', `amzn.mws.${lower(8)}-a1b2-c3d4-a1b2-${lower(12)}`, lower(12)],
  ['AWS presigned URL', `GET https://b.s3.amazonaws.com/k?X-Amz-Signature=${lower(64)}&x=1`, lower(64)],
  ['Google API key', `key AIza${alnum(35)}`, alnum(35)],
  ['Google OAuth token', `ya29.${alnum(60)}`, alnum(60)],
  ['Google client secret', `GOCSPX-${alnum(28)}`, alnum(28)],
  ['Google refresh token', `1//0${alnum(60)}`, alnum(60)],
  ['Google service account', `{"private_key": "${key('PRIVATE KEY').replaceAll('\n', '\\n')}\\n", "a": 1}`, alnum(30)],
  ['Azure storage key', `AccountName=x;AccountKey=${alnum(86)}==;EndpointSuffix=y`, alnum(86)],
  ['Azure service bus', `Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey=${alnum(43)}=`, alnum(43)],
  ['Azure SAS', `https://x.blob.core.windows.net/c?sv=1&sig=${alnum(43)}%3D`, alnum(43)],
  ['Azure client secret', `got abc8Q~${alnum(34)}`, alnum(34)],
  ['GitHub token', `ghp_${alnum(36)}`, alnum(36)],
  ['GitHub server token', `ghs_${alnum(36)}`, alnum(36)],
  ['GitHub fine-grained token', `github_pat_${alnum(22)}_${alnum(59)}`, alnum(59)],
  ['GitLab token', `glpat-${alnum(20)}`, alnum(20)],
  ['GitLab runner token', `glrt-${alnum(20)}`, alnum(20)],
  ['Slack bot token', `xoxb-123456789012-${alnum(24)}`, alnum(24)],
  ['Slack app token', `xapp-1-A1-${alnum(40)}`, alnum(40)],
  ['Slack webhook', `https://hooks.slack.com/services/T00000000/B00000000/${alnum(24)}`, alnum(24)],
  ['Discord webhook', `https://discord.com/api/webhooks/123456789012345678/${alnum(60)}`, alnum(60)],
  ['Discord bot token', `M${alnum(23)}.${alnum(6)}.${alnum(27)}`, alnum(27)],
  [
    'Teams webhook',
    `https://acme.webhook.office.com/webhookb2/${lower(36)}@${lower(36)}/IncomingWebhook/${lower(32)}`,
    lower(36),
  ],
  ['Stripe key', `sk_live_${alnum(24)}`, alnum(24)],
  ['Stripe restricted key', `rk_test_${alnum(24)}`, alnum(24)],
  ['Stripe webhook secret', `whsec_${alnum(32)}`, alnum(32)],
  ['npm token', `npm_${alnum(36)}`, alnum(36)],
  ['npmrc', `//registry.npmjs.org/:_authToken=${alnum(36)}`, alnum(36)],
  ['PyPI token', `pypi-AgEIcHlwaS5vcmc${alnum(70)}`, alnum(70)],
  ['RubyGems key', `rubygems_${lower(48)}`, lower(48)],
  ['Docker Hub token', `dckr_pat_${alnum(27)}`, alnum(27)],
  ['JSON web token', `eyJ${alnum(20)}.eyJ${alnum(30)}.${alnum(43)}`, alnum(43)],
  ['OpenAI key', `sk-proj-${alnum(48)}`, alnum(48)],
  ['Anthropic key', `sk-ant-api03-${alnum(80)}`, alnum(80)],
  ['Hugging Face token', `hf_${alnum(34)}`, alnum(34)],
  ['Replicate token', `r8_${alnum(37)}`, alnum(37)],
  ['Groq key', `gsk_${alnum(52)}`, alnum(52)],
  ['Twilio key', `SK${'0a1b2c3d'.repeat(4)}`, '0a1b2c3d'.repeat(4)],
  ['SendGrid key', `SG.${alnum(22)}.${alnum(43)}`, alnum(43)],
  ['Mailgun key', `key-${'0a1b2c3d'.repeat(4)}`, '0a1b2c3d'.repeat(4)],
  ['Mailchimp key', `${'0a1b2c3d'.repeat(4)}-us12`, '0a1b2c3d'.repeat(4)],
  ['Telegram bot token', `bot 123456789:AA${alnum(33)}`, alnum(33)],
  ['Shopify token', `shpat_${'0a1b2c3d'.repeat(4)}`, '0a1b2c3d'.repeat(4)],
  ['Square token', `sq0atp-${alnum(22)}`, alnum(22)],
  ['DigitalOcean token', `dop_v1_${'0a1b2c3d'.repeat(8)}`, '0a1b2c3d'.repeat(8)],
  ['Heroku key', `HRKU-${alnum(60)}`, alnum(60)],
  ['Databricks token', `dapi${'0a1b2c3d'.repeat(4)}`, '0a1b2c3d'.repeat(4)],
  ['Vault token', `hvs.${alnum(90)}`, alnum(90)],
  ['Terraform token', `${alnum(14)}.atlasv1.${alnum(67)}`, alnum(67)],
  ['Doppler token', `dp.pt.${alnum(43)}`, alnum(43)],
  ['Linear key', `lin_api_${alnum(40)}`, alnum(40)],
  ['Notion secret', `ntn_${alnum(46)}`, alnum(46)],
  ['Airtable token', `pat${alnum(14)}.${'0a1b2c3d'.repeat(8)}`, '0a1b2c3d'.repeat(8)],
  ['Grafana token', `glsa_${alnum(32)}_a1b2c3d4`, alnum(32)],
  ['Sentry token', `sntrys_${alnum(60)}`, alnum(60)],
  ['New Relic key', `NRAK-${upper(27)}`, upper(27)],
  ['PlanetScale password', `pscale_pw_${alnum(43)}`, alnum(43)],
  ['Supabase token', `sbp_${lower(40)}`, lower(40)],
  ['Atlassian token', `ATATT3${alnum(80)}`, alnum(80)],
  ['age key', `AGE-SECRET-KEY-1${upper(58)}`, upper(58)],
  ['Tailscale key', `tskey-auth-${alnum(30)}`, alnum(30)],
  ['bcrypt hash', `$2b$12$${alnum(53)}`, alnum(53)],
  ['shadow hash', `root:$6$${alnum(16)}$${alnum(86)}:1`, alnum(86)],
  ['RSA key', `x\n${key('RSA PRIVATE KEY')}\ny`, alnum(30)],
  ['OpenSSH key', key('OPENSSH PRIVATE KEY'), alnum(30)],
  ['PGP key', key('PGP PRIVATE KEY BLOCK', ['Version: 1', '', alnum(64), `${alnum(20)}=`]), alnum(20)],
  ['encrypted key', key('RSA PRIVATE KEY', ['Proc-Type: 4,ENCRYPTED', 'DEK-Info: A', '', alnum(64)]), alnum(30)],
  ['PuTTY key', `Private-Lines: 2\n${alnum(64)}\n${alnum(64)}\nPrivate-MAC: 00`, alnum(30)],
  ['URL with password', `postgres://app:hunter2-zebra@db:5432/app`, 'hunter2-zebra'],
  ['URL with token as user', `git clone https://${alnum(40)}@github.com/a/b`, alnum(40)],
  ['Bearer header', `Authorization: Bearer ${alnum(30)}`, alnum(30)],
  ['Basic header', `authorization: Basic ${alnum(24)}==`, alnum(24)],
  ['Digest header', `Authorization: Digest username="u", response="${lower(32)}"`, `hunter`],
  ['bare bearer', `sent bearer ${alnum(30)}`, alnum(30)],
  ['Cookie header', `Cookie: theme=dark; sid=hunter2-zebra`, 'hunter2-zebra'],
  ['Set-Cookie header', `< Set-Cookie: sid=hunter2-zebra; Path=/; HttpOnly`, 'hunter2-zebra'],
  ['API key header', `x-api-key: hunter2-zebra`, 'hunter2-zebra'],
  ['Vault header', `X-Vault-Token: hunter2-zebra`, 'hunter2-zebra'],
  ['ADO connection string', `Server=db;User Id=sa;Password=hunter2-zebra;Encrypt=true`, 'hunter2-zebra'],
  ['Pwd of a connection string', `Server=db;Uid=sa;Pwd=hunter2-zebra;`, 'hunter2-zebra'],
  ['query parameter', `GET /x?access_token=hunter2-zebra&y=1`, 'hunter2-zebra'],
  ['JSON', `{"db": {"password": "hunter2-zebra", "port": 1}}`, 'hunter2-zebra'],
  ['JSON in JSON', `{"msg":"{\\"password\\":\\"hunter2-zebra\\"}"}`, 'hunter2-zebra'],
  ['Python dictionary', `{'api_key': 'hunter2-zebra'}`, 'hunter2-zebra'],
  ['Ruby hash', `{:password=>"hunter2-zebra"}`, 'hunter2-zebra'],
  ['Rust debug', `Config { password: Some("hunter2-zebra") }`, 'hunter2-zebra'],
  ['list', `passwords: ["zebra-one", "hunter2-zebra"]`, 'hunter2-zebra'],
  ['quote in the value', `password="zebra\\"hunter2-zebra"`, 'hunter2-zebra'],
  ['XML', `<db><password>hunter2-zebra</password></db>`, 'hunter2-zebra'],
  ['option', `run --db-password hunter2-zebra --verbose`, 'hunter2-zebra'],
  ['option with =', `run --api-key=hunter2-zebra`, 'hunter2-zebra'],
  ['curl', `curl -u admin:hunter2-zebra https://x`, 'hunter2-zebra'],
  ['mysql', `mysql -h db -u root -phunter2-zebra app`, 'hunter2-zebra'],
  ['sshpass', `sshpass -p hunter2-zebra ssh x`, 'hunter2-zebra'],
  ['variable', `DJANGO_SECRET_KEY=hunter2-zebra`, 'hunter2-zebra'],
  ['YAML', `  client_secret: hunter2-zebra`, 'hunter2-zebra'],
];

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

describe('the time it takes', () => {
  const took = (text: string): number => {
    const from = process.hrtime.bigint();
    redact(text, ['hunter2-zebra'], { start: true, end: true });
    return Number(process.hrtime.bigint() - from) / 1e6;
  };
  // Quadratic work on a quarter of a megabyte would take minutes; the guard of the test ends it then.
  test.each([
    ...[
      'password',
      'password="',
      "token='",
      'key=[',
      'secret={',
      'a.b-',
      '--token ',
      '-u a:',
      '<password>',
      '<token a',
      'cookie:',
    ],
    ...[
      '-----BEGIN PRIVATE KEY-----',
      '-----BEGIN PRIVATE KEY-----\n',
      '-----END PRIVATE KEY-----',
      '\n-----END PRIVATE KEY-----\n',
    ],
    ...[
      `${alnum(64)}\n`,
      'A',
      '+/',
      '\\n',
      'Private-Lines: 3\n',
      'mysql -',
      'mysql x',
      'redis-cli a',
      '$2b$12$',
      'X-Amz-Signature=',
      'ghp_',
    ],
    ...[
      'eyJa.',
      'M.',
      'a1Q~',
      'https://a',
      '://:',
      'Some(',
      'bearer A',
      'basic =',
      '\\"token\\":\\"',
      '=>',
      ' \t',
      '\n',
    ],
  ])('is in proportion to the text: %j', (piece) => {
    expect(took(piece.repeat(2 ** 18 / piece.length))).toBeLessThan(Infinity);
  });
});
