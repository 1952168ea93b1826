import { expect, test } from 'vitest';
import { loadConfigFromTexts } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';

const load = (text: string) =>
  loadConfigFromTexts({ files: [{ path: '/p/keepwell.yaml', text }], dotenv: null, env: {}, cwd: '/p' });

const problems = (template: string): readonly string[] => {
  try {
    load(`sessions: { templates: { web: ${template} } }`);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
};

test('a template needs nothing but an image, and is closed unless it is opened', () => {
  const { sessions, components } = load('sessions: { templates: { web: { image: ctf/web, port: 8080 } } }');
  expect(components).toEqual([]);
  expect(sessions.max).toBe(100);
  expect(sessions.templates).toMatchObject([
    {
      ...{ name: 'web', image: 'ctf/web', port: 8080, ttlMs: 1_800_000, maxTtlMs: 7_200_000, perUser: 1 },
      ...{ readOnly: true, tmpfs: ['/tmp'], addCapabilities: [], noNewPrivileges: true, network: 'isolated' },
      limits: { memoryBytes: 256 * 2 ** 20, cpus: 0.5, pids: 128 },
      restart: { limit: { max: 5, withinMs: 600_000, retryMs: null }, backoff: { initialMs: 1_000 } },
    },
  ]);
});

test('without sessions there are none', () => {
  expect(load('checks: { a: { tcp: 80 } }').sessions).toEqual({ templates: [], max: 0 });
});

test.each([
  ['{ port: 8080 }', 'sessions.templates.web: the image is missing'],
  ['{ image: a, ttl: 1h, max_ttl: 30m }', 'sessions.templates.web.max_ttl: max_ttl is 30m, which is less than ttl, 1h'],
  [
    '{ image: a, max_ttl: 1m }',
    'sessions.templates.web.max_ttl: max_ttl is 1m, which is less than ttl, 30m (the default)',
  ],
  ['{ image: a, port: 80, network: none }', 'sessions.templates.web.port: a container without a network has no ports'],
  ['{ image: a, cap_add: [ALL] }', 'sessions.templates.web.cap_add[0]: all capabilities are as good as no isolation'],
  [
    '{ image: a, cap_add: [CAP_CHOWN] }',
    'sessions.templates.web.cap_add[0]: "CAP_CHOWN" is not the name of a capability',
  ],
  ['{ image: a, tmpfs: [tmp] }', 'sessions.templates.web.tmpfs[0]: a path inside a container must begin with a slash'],
  [
    '{ image: a, restart: { limit: { retry: 1m } } }',
    'sessions.templates.web.restart.limit.retry: unknown key "retry"',
  ],
  ['{ image: a, privileged: true }', 'sessions.templates.web.privileged: unknown key "privileged"'],
])('%s is refused', (text, problem) => {
  expect(problems(text)).toEqual([problem]);
});
