/** A plain CommandRunner on child_process: each command in a session of its own, killed with it at the limit or when aborted. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Clock } from '../../../src/base/clock.ts';
import type { Command, CommandResult, CommandRunner } from '../../../src/base/command.ts';
import { after } from '../../../src/base/pure/ids.ts';

export interface RecordedRunner extends CommandRunner {
  readonly commands: readonly Command[];
}

/** What a command that ended well has left running stays: that is what recovery commands are for. */
export function plainRunner(clock: Clock): RecordedRunner {
  const commands: Command[] = [];
  return {
    commands,
    run: (command) => {
      commands.push(command);
      return runOne(command, clock);
    },
  };
}

function runOne(
  { command: [program = '', ...args], cwd, env, timeoutMs, signal, launchesInto }: Command,
  clock: Clock,
) {
  return new Promise<CommandResult>((resolve) => {
    const log = openLog(launchesInto ?? '/dev/null');
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    const settled = new AbortController();
    const output = '';
    let isTimedOut = false;
    const done = (result: CommandResult) => {
      settled.abort();
      signal.removeEventListener('abort', kill);
      resolve(result);
    };
    const kill = () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    signal.addEventListener('abort', kill);
    child.on('error', ({ message }) =>
      done({ kind: 'not-started', problem: { code: 'command-not-found', message, heals: false } }),
    );
    child.on('exit', (code, killedBy) =>
      setImmediate(() =>
        done(isTimedOut ? { kind: 'timed-out', output } : { kind: 'exited', code, signal: killedBy, output }),
      ),
    );
    clock.sleepUntil(after(clock.now(), timeoutMs), settled.signal).then(
      () => {
        isTimedOut = true;
        kill();
      },
      () => {}, // it ended in time
    );
  });
}

function openLog(path: string): number {
  try {
    return openSync(path, 'a');
  } catch {
    return openSync('/dev/null', 'w');
  }
}
