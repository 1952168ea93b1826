import { describe, expect, test } from 'vitest';
import { AppError } from '../../../src/base/pure/errors.ts';
import { loadConfigFromTexts } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';
import { api, load, only, proc, processOf } from './support.ts';

describe('a resolved component is complete', () => {
  test('with nothing but a command, everything else is the default', () => {
    expect(only(proc('command: [server]'))).toEqual({
      name: 'api',
      driver: { kind: 'process', command: ['server'], shell: false, cwd: '/project', env: {}, envFiles: [] },
      dependsOn: {},
      stop: { signal: 'SIGTERM', graceMs: 10_000 },
      restart: {
        policy: 'always',
        backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000, jitterRatio: 0.1, resetAfterMs: 600_000 },
        limit: { max: 10, withinMs: 600_000, retryMs: 900_000 },
        neverOn: [],
        dependents: false,
      },
      minUptimeMs: 10_000,
      probes: { startup: null, liveness: null, readiness: null },
      crashPatterns: [],
      limits: { memoryBytes: null, pids: null, nofile: null, softMemoryBytes: null },
      logs: { maxBytes: 50_000_000, keep: 5, compress: true },
    });
    expect(load(proc('command: [server]')).logs).toEqual({ maxTotalBytes: 10_000_000_000, minFreeBytes: null });
  });

  test('with everything given, everything arrives', () => {
    const text = `
version: 1
name: shop
logs: { max_size: 1MB, keep: 2, max_total: 1GiB, min_free: 0B }
components:
  db: { process: { command: [db] } }
  api:
    process:
      command: [./bin/server, --port, "7234"]
      cwd: ./server
      env: { LOG_LEVEL: info, EMPTY: "" }
      env_file: [.env, /etc/api.env]
      user: app
      group: 33
      umask: "027"
      nice: -5
    limits: { memory: 1.5GiB, soft_memory: 400MiB, pids: 200, nofile: 4096 }
    logs: { max_size: 64KiB, compress: false }
    stop: { signal: SIGINT, grace: 1m30s }
    depends_on: { db: ready }
    min_uptime: 500ms
    restart:
      policy: on-failure
      backoff: { initial: 2s, factor: 1.5, max: 5m, jitter: 0, reset_after: 1h }
      limit: { max: 0, within: 1h, retry: never }
      never_on: [78, SIGILL]
      dependents: true
`;
    const { name, components, baseDir, logs } = load(text);
    expect({ name, baseDir }).toEqual({ name: 'shop', baseDir: '/project' });
    expect(logs).toEqual({ maxTotalBytes: 2 ** 30, minFreeBytes: 0 });
    expect(components[1]).toEqual({
      name: 'api',
      driver: {
        kind: 'process',
        command: ['./bin/server', '--port', '7234'],
        shell: false,
        cwd: '/project/server',
        env: { LOG_LEVEL: 'info', EMPTY: '' },
        envFiles: ['/project/.env', '/etc/api.env'],
        user: 'app',
        group: '33',
        umask: 0o27,
        nice: -5,
      },
      dependsOn: { db: 'ready' },
      stop: { signal: 'SIGINT', graceMs: 90_000 },
      restart: {
        policy: 'on-failure',
        backoff: { initialMs: 2_000, factor: 1.5, maxMs: 300_000, jitterRatio: 0, resetAfterMs: 3_600_000 },
        limit: { max: 0, withinMs: 3_600_000, retryMs: null },
        neverOn: [78, 'SIGILL'],
        dependents: true,
      },
      minUptimeMs: 500,
      probes: { startup: null, liveness: null, readiness: null },
      crashPatterns: [],
      limits: { memoryBytes: 1.5 * 2 ** 30, pids: 200, nofile: 4_096, softMemoryBytes: 400 * 2 ** 20 },
      logs: { maxBytes: 65_536, keep: 2, compress: false },
    });
  });

  test.each([
    ['always', 10_000],
    ['on-failure', 0],
    ['never', 0],
  ])('under policy %s the default of min_uptime is %d ms', (policy, ms) => {
    expect(only(api(`restart: { policy: ${policy} }`)).minUptimeMs).toBe(ms);
  });

  test('a shell command becomes /bin/sh -c, whatever is in it', () => {
    const driver = processOf(only(proc('command: "echo \\"a\\" | tee $$HOME; exit 1", shell: true')));
    expect(driver.command).toEqual(['/bin/sh', '-c', 'echo "a" | tee $HOME; exit 1']);
    expect(driver.shell).toBe(true);
  });

  test('metacharacters in a list are plain text', () => {
    const words = ['echo', '$(touch canary)', '; touch canary', '`touch canary`', '| sh', '&& x', '*', '>', "'", '"'];
    expect(processOf(only(proc(`command: ${JSON.stringify(words)}`))).command).toEqual(words);
  });

  test('components keep the order of the file, also when they look like numbers', () => {
    const text = 'components: { z: &p { process: { command: [x] } }, "10": *p, a: *p, "2": *p }';
    expect(load(text).components.map(({ name }) => name)).toEqual(['z', '10', 'a', '2']);
  });

  test.each([
    ['./x', '/project/x'],
    ['../x', '/x'],
    ['/abs/./x/', '/abs/x'],
    ['.', '/project'],
  ])('cwd %s is %s', (cwd, absolute) => {
    expect(only(proc(`command: [a], cwd: ${cwd}`)).driver.cwd).toBe(absolute);
  });
});

describe('the name of the project', () => {
  test.each([
    ['/home/me/My App/keepwell.yaml', 'my-app'],
    ['/srv/shop/keepwell.yaml', 'shop'],
    ['/srv/..hidden../keepwell.yaml', 'hidden'],
    ['/srv/Ünïcode/keepwell.yaml', 'n-code'],
    ['/srv/---/keepwell.yaml', 'project'],
    ['/keepwell.yaml', 'project'],
    [`/srv/${'x'.repeat(100)}/keepwell.yaml`, 'x'.repeat(63)],
  ])('in %s it is %s', (path, name) => {
    expect(load(proc('command: [a]'), { path }).name).toBe(name);
  });
});

describe('the error', () => {
  const fail = (cwd: string): ConfigError => {
    try {
      loadConfigFromTexts({
        files: [{ path: '/project/sub/k.yaml', text: 'nmae: x\ncomponents: 5' }],
        dotenv: null,
        env: {},
        cwd,
      });
    } catch (error) {
      if (error instanceof ConfigError) return error;
    }
    throw new Error('it was accepted');
  };

  test('is an AppError with one line per problem and the hint below it', () => {
    const error = fail('/project');
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', exitCode: 2 });
    expect(error.message).toBe(
      [
        'The configuration has 2 problems:',
        'sub/k.yaml:1:1 nmae: unknown key "nmae"',
        '    Did you mean "name"?',
        'sub/k.yaml:2:13 components: must be a map',
      ].join('\n'),
    );
    expect(error.problems[0]).toEqual({
      file: '/project/sub/k.yaml',
      line: 1,
      column: 1,
      path: 'nmae',
      message: 'unknown key "nmae"',
      hint: 'Did you mean "name"?',
    });
  });

  test.each([
    ['/project/sub', 'k.yaml:1:1'],
    ['/', 'project/sub/k.yaml:1:1'],
    ['/proj', '/project/sub/k.yaml:1:1'],
    ['/elsewhere', '/project/sub/k.yaml:1:1'],
  ])('seen from %s the file is %s', (cwd, shown) => {
    expect(fail(cwd).message.split('\n')[1]).toMatch(new RegExp(`^${shown} `));
  });

  test('lists fifty problems and counts the rest', () => {
    const keys = Array.from({ length: 60 }, (_, i) => `x${i}: 1`).join('\n');
    expect(() => load(keys)).toThrow(/^The configuration has 61 problems:.*… and 11 more\.$/s);
  });
});
