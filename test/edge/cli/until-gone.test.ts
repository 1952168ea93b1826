import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { DaemonFile } from '../../../src/base/home.ts';
import type { CliCall } from '../../../src/cli/call.ts';
import { untilGone } from '../../../src/cli/daemon-end.ts';
import { readProcStat } from '../../../src/drivers/process/proc.ts';

/** As long as a daemon with hundreds of components takes to say how all of them are. */
const LOOK_TAKES_MS = 100;
const LIVES_MS = 1_500;

test('a daemon that is stopping everything is asked how far it is for a tenth of the time at most', async () => {
  const daemon = spawn('sleep', ['300'], { stdio: 'ignore' });
  try {
    await once(daemon, 'spawn');
    const pid = daemon.pid as number;
    const file = { pid, start_time: readProcStat(pid)?.startTime ?? '', hosted: false } as DaemonFile;
    const call = { signal: new AbortController().signal } as CliCall;
    let looks = 0;
    const look = async () => {
      looks += 1;
      await pause(LOOK_TAKES_MS);
    };
    const gone = untilGone(call, file, { timeoutMs: 60_000, pending: () => '', look });
    await pause(LIVES_MS);
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThanOrEqual(2); // at the beginning, and a second later
    daemon.kill('SIGKILL');
    await gone;
  } finally {
    daemon.kill('SIGKILL');
  }
});
