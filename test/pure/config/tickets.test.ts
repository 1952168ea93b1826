import { describe, expect, test } from 'vitest';
import { linesOf, load, oneProblem } from './support.ts';

const CHECK = 'checks: { a: { tcp: 80 } }';
const tickets = (text: string): string => `${CHECK}\ntickets: ${text}`;
const trackers = (...items: readonly string[]): string => tickets(`{ trackers: [${items.join(', ')}] }`);

describe('tickets', () => {
  test('without a word about them there are tickets, and no tracker', () => {
    expect(load(CHECK).tickets).toEqual({
      afterCrashes: 3,
      rateLimit: { perMs: 3_600_000, max: 1, by: 'fingerprint' },
      priorities: {
        ImportError: 'high',
        ModuleNotFoundError: 'high',
        MODULE_NOT_FOUND: 'high',
        ERR_MODULE_NOT_FOUND: 'high',
        RuntimeError: 'medium',
        TimeoutError: 'low',
      },
      trackers: [],
    });
  });

  test('are read as the design writes them', () => {
    const text = `
after_crashes: 5
rate_limit: { per: 30m, max: 2, by: type }
priorities: { ImportError: critical, "java.lang.OutOfMemoryError": high }
trackers: [ { local: { dir: tickets } }, { github: { repo: acme/app, token: "\${GITHUB_TOKEN}" } }, { webhook: { url: "https://x.example/h" } }, { command: { command: [./file-it, --now], timeout: 30s } } ]`;
    const spec = load(`${CHECK}\ntickets:${text.replaceAll('\n', '\n  ')}`, { env: { GITHUB_TOKEN: 'abc' } }).tickets;
    expect(spec).toMatchObject({ afterCrashes: 5, rateLimit: { perMs: 1_800_000, max: 2, by: 'type' } });
    expect(spec.priorities).toMatchObject({
      ImportError: 'critical',
      TimeoutError: 'low',
      'java.lang.OutOfMemoryError': 'high',
    });
    expect(spec.trackers).toMatchObject([
      { name: 'local', kind: 'local', dir: '/project/tickets' },
      { name: 'github', repo: 'acme/app', token: 'abc', url: 'https://api.github.com', labels: [], timeoutMs: 10_000 },
      { name: 'webhook', url: 'https://x.example/h', headers: {} },
      { name: 'command', command: ['./file-it', '--now'], cwd: '/project', timeoutMs: 30_000 },
    ]);
  });

  test('two of one kind have names of their own, and no secret is part of where they lead to', () => {
    const one = '{ github: { repo: a/b, token: secretsecret } }';
    const two = '{ github: { repo: a/c, token: secretsecret, url: "https://ghe.example/api/v3/" } }';
    const spec = load(trackers(one, two, '{ webhook: { url: "https://x.example/secretpath" } }')).tickets;
    expect(spec.trackers.map(({ name }) => name)).toEqual(['github', 'github-2', 'webhook']);
    expect(spec.trackers[1]).toMatchObject({ url: 'https://ghe.example/api/v3' });
    expect(JSON.stringify(spec.trackers.map(({ target }) => target))).not.toMatch(/secret/);
  });

  test.each([
    ['{ after_crashes: 0 }', 'tickets.after_crashes: must be a whole number from 1 to 1000, not 0'],
    ['{ rate_limit: { per: 60 } }', 'tickets.rate_limit.per: must be a duration, not "60" | Write 60s'],
    ['{ rate_limit: 1h }', 'tickets.rate_limit: must be a map, not a single value | Write: rate_limit: { per: 1h }'],
    ['{ rate_limit: { by: cause } }', 'tickets.rate_limit.by'],
    ['{ priorities: { ImportError: urgent } }', 'tickets.priorities.ImportError'],
    [
      '{ threshold: 3 }',
      'tickets.threshold: unknown key "threshold" | Keepwell\'s word for "threshold" is after_crashes.',
    ],
    [
      '{ trackers: { local: {} } }',
      'tickets.trackers: must be a list, not a map | Write: trackers: [{ local: { dir: tickets } }]',
    ],
    ['{ trackers: [{}] }', 'tickets.trackers[0]: nothing says which tracker'],
    [
      '{ trackers: [{ local: {}, github: { repo: a/b, token: x } }] }',
      'tickets.trackers[0]: a tracker is one thing, not local and github',
    ],
    [
      '{ trackers: [{ local: docs }] }',
      'tickets.trackers[0].local: must be a map, not a single value | Write: local: { dir: docs }',
    ],
    [
      '{ trackers: [{ github: { token: x } }] }',
      'tickets.trackers[0].github: the repository is missing | Write: repo: acme/app',
    ],
    [
      '{ trackers: [{ github: { repo: a/b } }] }',
      'tickets.trackers[0].github: the token is missing | Write: token: "${GITHUB_TOKEN}"',
    ],
    ['{ trackers: [{ github: { repo: "https://github.com/acme/app.git", token: x } }] }', 'Write: acme/app'],
    ['{ trackers: [{ github: { repository: a/b, token: x } }] }', 'Keepwell\'s word for "repository" is repo.'],
    ['{ trackers: [{ github: { repo: a/b, token: "" } }] }', 'tickets.trackers[0].github.token: is empty'],
    ['{ trackers: [{ webhook: { url: "ftp://x" } }] }', 'must be a URL that begins with http:// or https://'],
    ['{ trackers: [{ webhook: { url: "https://me:pw@x.example" } }] }', 'has a user or a password in it'],
    ['{ trackers: [{ webhook: { url: "https://x", headers: { "a b": c } } }] }', 'cannot be the name of a header'],
    [
      '{ trackers: [{ command: [./file-it] }] }',
      'must be a map, not a bare command | Write: command: { command: [./file-it] }',
    ],
    ['{ trackers: [{ command: { command: "file it" } }] }', 'a command is a list of texts, not one text'],
    ['{ trackers: [{ command: { command: [a], shell: true } }] }', 'what crashed must never be read by a shell'],
    ['{ trackers: [{ jira: { url: "x" } }] }', 'unknown key "jira"'],
    [
      '{ trackers: [{ local: { dir: a } }, { local: { dir: a } }] }',
      'tickets.trackers[1]: leads to the same place as number 1',
    ],
  ])('%s is refused, with what to write', (text, said) => {
    expect(linesOf(tickets(text)).join('\n')).toContain(said);
  });

  test('what a variable held is in no message', () => {
    const world = { env: { SECRET: 'https://u:hunter2@x.example' } };
    const said = oneProblem(trackers('{ webhook: { url: "${SECRET}" } }'), world);
    expect(said).not.toContain('hunter2');
    expect(oneProblem(trackers('{ github: { repo: "${SECRET}", token: x } }'), world)).not.toContain('hunter2');
  });

  test('all problems are told at once', () => {
    const text = '{ after_crashes: many, rate_limit: { max: 0 }, trackers: [{ github: {} }, { webhook: {} }] }';
    expect(linesOf(tickets(text)).length).toBe(5);
  });
});
