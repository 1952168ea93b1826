/** A program that starts agents and never asks how they ended: the kernel keeps them as zombies. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { waitFor } from './wait-for.ts';

export interface LoopWithoutWait extends AsyncDisposable {
  readonly pid: number;
  /** In the order of their codes. They live until they are let. */
  readonly agents: readonly number[];
  letThemEnd(): Promise<void>;
  /** Then init takes note of its children. */
  end(): Promise<void>;
}

/** `codes`: with which the agents will end. */
export async function loopThatNeverWaits({ codes }: { readonly codes: readonly number[] }): Promise<LoopWithoutWait> {
  // Shells read their own input from /dev/null in the background, so they wait at another descriptor. The loop must be a sleep before
  // any of them ends: a shell would reap them.
  const agents = codes.map((code) => `sh -c 'read -r word <&3; exit ${code}' & echo $!`);
  const script = `${agents.join('; ')}; exec sleep 300`;
  const loop = spawn('sh', ['-c', script], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const gone = once(loop, 'exit');
  let said = '';
  loop.stdout!.on('data', (text) => {
    said += String(text);
  });
  const pids = () => said.split('\n').filter((line) => line !== '');
  await waitFor('all agents to be there', () => pids().length === codes.length);
  await waitFor('the shell to be a sleep', () => readFileSync(`/proc/${loop.pid}/comm`, 'utf8') === 'sleep\n');
  const end = async () => {
    loop.kill('SIGKILL');
    await gone;
  };
  return {
    pid: loop.pid!,
    agents: pids().map(Number),
    letThemEnd: async () => {
      (loop.stdio[3] as Writable).end();
      await waitFor('all of them to be zombies', () =>
        pids().every((pid) => /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))),
      );
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}
