import { describe, expect, test } from 'vitest';
import { TestProject } from '../support/project.ts';

/** What dies at once, in the ways people meet first. By a shell, which fails within the 2 s of grace on a busy machine, too. */
const DYING: readonly [what: string, command: string, cause: RegExp][] = [
  ['a file name typed wrong', '[sh, missing.sh]', /exit code \d+: .*missing\.sh/],
  ['an end after half a second', '[sh, -c, "sleep 0.5; exit 3"]', /exit code 3/],
];

describe('success means success', () => {
  test.each(DYING)('up fails, and says why, for %s', async (_what, command, cause) => {
    await using project = new TestProject(`components:
  a:
    process: { command: ${command} }
    restart: { backoff: { initial: 100ms } }
`);
    const { code, stderr, stdout } = await project.cli('up');
    expect(stderr).toMatch(/a crashed twice during this command: /);
    expect(stderr).toMatch(cause);
    expect(stderr).toContain('keepwell why a');
    expect(stdout).not.toContain('is up');
    expect(code).toBe(1);

    const started = await project.cli('start', 'a');
    expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(/a crashed twice during this command: /)]);
    const waited = await project.cli('wait', 'a');
    expect([waited.code, waited.stderr]).toEqual([1, expect.stringMatching(/a crashed twice during this command: /)]);
    expect(waited.stderr).toMatch(cause);
  });

  test('what crashes before it is ever ready is told with its cause, also when the time is up', async () => {
    await using project = new TestProject(`components:
  a:
    process: { command: [node, missing.js] }
    readiness: { exec: { command: ["false"] }, period: 100ms }
    restart: { backoff: { initial: 100ms } }
`);
    const { code, stderr } = await project.cli('up', '--timeout', '6s');
    expect(stderr).toMatch(/a crashed .* during this command: exit code 1: .*Cannot find module .*missing\.js/);
    expect(stderr).toContain('"keepwell why a" tells more');
    expect(code).toBe(5);
  });

  test('a crash that a restart mends is told, and up succeeds', async () => {
    await using project = new TestProject(`components:
  a:
    process: { command: "test -e been || { touch been; exit 7; }; exec sleep 1000", shell: true }
    restart: { backoff: { initial: 100ms } }
`);
    const { code, stderr, stdout } = await project.cli('up');
    expect(stderr).toMatch(/a crashed once during this command: exit code 7; "keepwell why a" tells more/);
    expect(stdout).toMatch(/1 component is up/);
    expect(code).toBe(0);
  });

  test('an exit code that is listed as a success completes a job, and is no crash', async () => {
    await using project = new TestProject(`components:
  job:
    process: { command: "echo nothing to do; exit 3", shell: true }
    restart: { policy: on-failure, success_codes: [3, 143] }
  after:
    process: { command: [sleep, "1000"] }
    depends_on: { job: completed }
  other:
    process: { command: "exit 3", shell: true }
    restart: { policy: on-failure, success_codes: [4], backoff: { initial: 1m } }
`);
    await project.ok('up', '--no-wait');
    await project.until('after', 'running', ({ state }) => state === 'running');
    expect((await project.component('job')).state).toBe('completed');
    await project.until('other', 'down', ({ state }) => state === 'backing-off');
    expect((await project.crashes()).map(({ subject }) => subject.name)).toEqual(['other']);
    await project.ok('down');
    expect((await project.component('job')).last_exit).toMatchObject({ code: 3, crash: false });
  });
});
