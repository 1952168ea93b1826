/** Every system call of the native launcher and shim fails, in turn: no run begins twice, none is lost, and each end is told. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isThere, pids, type Run, readText, workshop } from '../edge/process/workshop.ts';
import { canInject } from '../support/faulty-reads.ts';
import { waitFor } from '../support/wait-for.ts';

/** What strace calls those that sys.h calls otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  pread: 'pread64',
  pwrite: 'pwrite64',
  prlimit: 'prlimit64',
  sigaction: 'rt_sigaction',
  sigprocmask: 'rt_sigprocmask',
  sigtimedwait: 'rt_sigtimedwait',
};
const ERRORS = ['ENOSPC', 'EMFILE', 'EAGAIN'];
/** The first, the second, the third, and from the first on all of them. */
const WHEN = ['1', '2', '3', '1+'];

/** All that the source makes, read from it; a process that cannot end is the kernel's affair. */
const SOURCE = readFileSync(new URL('../../native/sys.h', import.meta.url), 'utf8');
const CALLS = [...new Set([...SOURCE.matchAll(/(?:SYS\d\(|syscall6\(NR_)(\w+),?/g)].map(([, name]) => name!))]
  .filter((name) => SOURCE.includes(`NR_${name} =`) && name !== 'exit_group')
  .map((name) => NAMES[name] ?? name);

/** Every call at every time with one of the errors; KEEPWELL_NATIVE_FAULTS=all for all of them. */
const errorsOf = (call: number, when: number): readonly string[] =>
  process.env['KEEPWELL_NATIVE_FAULTS'] === 'all' ? ERRORS : [ERRORS[(call + when) % ERRORS.length]!];

const shop = workshop();

/** A fork of it looks the same for a moment, but is not our child. */
const theLauncher = (): number | undefined =>
  pids().find((pid) => {
    const [, mode, runs] = readText(`/proc/${pid}/cmdline`).split('\0');
    const isOurs = new RegExp(`\\) [^ZX] ${process.pid} `).test(readText(`/proc/${pid}/stat`));
    return isOurs && mode === 'launcher' && runs === `${shop.now.state}/runs/`;
  });

const begun = (run: Run): number =>
  readText(shop.now.path('ledger'))
    .split('\n')
    .filter((id) => id === run.id).length;

const COUNTED = 'echo "$KEEPWELL_RUN" >>ledger && exit';
const isOver = ({ kinds }: Run): boolean => kinds.includes('exited') || kinds.includes('spawn-failed');

/** From now on this call of the process, and of all that it forks, fails with this error. */
async function inject(pid: number, call: string, error: string, when: string): Promise<ChildProcess> {
  const tampering = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${when}`];
  const strace = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...tampering, '-p', String(pid)], {
    stdio: 'ignore',
  });
  const isAttached = new RegExp(`^TracerPid:\\s*${strace.pid}$`, 'm');
  // One that waited in this very call is gone as soon as it is attached.
  await waitFor('strace to be attached', () => isAttached.test(readText(`/proc/${pid}/status`)) || !isThere(pid));
  return strace;
}

async function letGo(strace: ChildProcess): Promise<void> {
  if (strace.exitCode !== null || strace.signalCode !== null) return;
  const gone = once(strace, 'exit');
  strace.kill('SIGINT'); // what it traced goes on by itself
  await gone;
}

test('the calls are read from the source', () => {
  expect(CALLS).toEqual(expect.arrayContaining(['openat', 'clone', 'clone3', 'wait4', 'renameat', 'pwrite64', 'mmap']));
});

describe.skipIf(!canInject).each(CALLS.map((call, index) => [call, index] as const))('%s', (call, index) => {
  test('fails', async () => {
    for (const [turn, when] of WHEN.entries()) {
      for (const error of errorsOf(index, turn)) {
        const what = `${call} ${error} ${when}`;
        const driver = shop.now.driver();
        await shop.now.start(driver, 'exit 0').until('exited');
        const strace = await inject(await waitFor('the launcher', theLauncher), call, error, when);
        const run = shop.now.start(driver, `${COUNTED} 7`);
        await waitFor(`${what}: the run to begin or to be refused`, () => isOver(run) || begun(run) > 0);
        await letGo(strace);
        await waitFor(`${what}: its end; it reported ${JSON.stringify(run.reports)}`, () => isOver(run));
        // The command has system calls of its own, so it may end otherwise; but what ended with 7 has begun, and nothing begins twice.
        const end = run.find('exited');
        expect({ what, begun: begun(run), cause: end?.cause }).toEqual({
          what,
          begun: end?.cause.kind === 'code' && end.cause.code === 7 ? 1 : expect.toBeOneOf([0, 1]),
          cause: end === undefined ? undefined : expect.not.objectContaining({ kind: 'unknown' }),
        });
        if (end === undefined) expect({ what, begun: begun(run) }).toEqual({ what, begun: 0 });
        expect(run.kinds.filter((kind) => kind === 'exited' || kind === 'spawn-failed')).toHaveLength(1);
        const next = shop.now.start(driver, `${COUNTED} 3`);
        expect((await next.until('exited')).cause).toMatchObject({ kind: 'code', code: 3 });
        expect(begun(next)).toBe(1);
        await driver.close();
      }
    }
  });
});
