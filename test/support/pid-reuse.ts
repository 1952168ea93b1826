/** Gives the pid of a dead process to a stranger, as the kernel will do sooner or later by itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { type Identity, readProcStat, sameProcess } from '../../src/drivers/process/proc.ts';
import { waitFor } from './wait-for.ts';

const LAST_PID = '/proc/sys/kernel/ns_last_pid';

/** In sh, because between choosing the pid and forking nothing slow may happen: everybody else on the machine forks, too. */
const GRAB = `for try in $(seq 200); do
  echo $(($1 - 1)) >${LAST_PID}; sleep 300 &
  if test $! = $1; then echo got; wait; exit; fi
  kill -KILL $!
done; echo missed; wait`;

export function needsPidControl(skip: (note: string) => never): void {
  try {
    accessSync(LAST_PID, constants.W_OK);
    if (process.getuid?.() !== 0) skip('choosing pids needs root');
  } catch {
    skip(`${LAST_PID} is not there or not writable: pids cannot be chosen`);
  }
}

export interface Stranger extends AsyncDisposable {
  readonly identity: Identity;
  readonly isAlive: boolean;
}

/** A stranger under exactly this pid; null when somebody else has got the pid and keeps it. */
export async function strangerUnder(pid: number): Promise<Stranger | null> {
  const grabber = spawn('sh', ['-c', GRAB, 'sh', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  grabber.stdout.on('data', (text) => {
    said += String(text);
  });
  await waitFor(`pid ${pid} to be got or missed`, () => said.endsWith('\n'));
  if (said !== 'got\n') {
    await end(grabber);
    return null;
  }
  const identity = await waitFor('the stranger to be itself', () => {
    const stat = readProcStat(pid);
    return stat?.name === 'sleep' ? stat : null;
  });
  const isAlive = () => sameProcess(identity.pid, identity.startTime);
  return {
    identity,
    get isAlive() {
      return isAlive();
    },
    [Symbol.asyncDispose]: async () => {
      if (isAlive()) process.kill(identity.pid, 'SIGKILL');
      await end(grabber);
      await waitFor('the stranger to be gone', () => !isAlive());
    },
  };
}

async function end(grabber: ChildProcess): Promise<void> {
  grabber.kill('SIGKILL');
  await waitFor('the grabber to be gone', () => grabber.exitCode !== null || grabber.signalCode !== null);
}
