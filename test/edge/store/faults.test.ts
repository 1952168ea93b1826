import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { runOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { column, integrity, upTo } from './inspect.ts';
import { openStore } from './open-store.ts';
import { run } from './program.ts';

const COMMITS = 8;

const canInject = (() => {
  const works = spawnSync('strace', ['-e', 'inject=fsync:error=EIO:when=1', 'true'], { stdio: 'ignore' }).status === 0;
  if (!works) console.warn('SKIPPED: system calls that fail, because strace is missing or may not trace here');
  return works;
})();

let writer: Bundle;
beforeAll(async () => {
  writer = await bundle('test/fixtures/store/writer.ts');
});
afterAll(() => writer.remove());

/** Runs the writer with the chosen system calls failing, and gives the numbers it was told were safe. */
async function writeWith(path: string, calls: string, fault: string): Promise<readonly number[]> {
  const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:${fault}`];
  using program = run([...strace, process.execPath, writer.path, path, `${COMMITS}`]);
  const { code, signal, stderr } = await program.ended;
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
  expect(program.lines.at(-1)).toMatch(/^closed /);
  return program.lines.filter((line) => line.startsWith('ack ')).map((line) => Number(line.split(' ')[1]));
}

/** Numbers may begin high when the database could not be read at first; what was acknowledged must be there as it is. */
async function stored(path: string): Promise<readonly unknown[]> {
  expect(await integrity(path)).toBe('ok');
  return column(path, "SELECT data_json ->> 'n' FROM events WHERE type = 'component.exited' ORDER BY seq");
}

/** How far the stretch that goes on has come, and the runs that have one of their own. */
async function probed(path: string): Promise<{ readonly count: unknown; readonly runs: readonly unknown[] }> {
  const [count = 0] = await column(path, "SELECT count FROM probe_results WHERE component = 'db'");
  return {
    count,
    runs: await column(path, "SELECT run_id FROM probe_results WHERE component = 'api' ORDER BY first_at"),
  };
}

describe.runIf(canInject)('a system call that fails', () => {
  // 8 commits are about 300 writes and 18 syncs, those of opening, migrating and closing included.
  const faults = [
    ...upTo(20).map((n) => ['pwrite64', 'ENOSPC', n * 15 - 14] as const),
    ...upTo(20).map((n) => ['fsync,fdatasync', 'EIO', n] as const),
  ];

  test.each(faults)(
    'once, %s with %s at call %i: everything is acknowledged in the end, and there',
    async (calls, error, n) => {
      using dir = tempDir();
      const acknowledged = await writeWith(dir.at('keepwell.db'), calls, `error=${error}:when=${n}`);
      expect(acknowledged).toHaveLength(COMMITS);
      expect(await stored(dir.at('keepwell.db'))).toEqual(acknowledged);
      const runs = acknowledged.map((seq) => runOf('api', seq));
      expect(await probed(dir.at('keepwell.db'))).toEqual({ count: acknowledged.at(-1), runs });
    },
  );

  const lasting = faults.filter((_, i) => i % 4 === 1);
  test.each(lasting)('from then on, %s with %s at call %i: what was acknowledged is there', async (calls, error, n) => {
    using dir = tempDir();
    const acknowledged = await writeWith(dir.at('keepwell.db'), calls, `error=${error}:when=${n}+`);
    if (calls === 'pwrite64') expect(acknowledged.length).toBeLessThan(COMMITS); // or the fault did not reach anything
    using opened = await openStore(dir.at('keepwell.db'));
    expect(opened.store.health()).toBe('ok');
    expect(await stored(dir.at('keepwell.db'))).toEqual(expect.arrayContaining([...acknowledged]));
    const { count, runs } = await probed(dir.at('keepwell.db'));
    expect(count).toBeGreaterThanOrEqual(Math.max(0, ...acknowledged));
    expect(runs).toEqual(expect.arrayContaining(acknowledged.map((seq) => runOf('api', seq))));
  });
});
