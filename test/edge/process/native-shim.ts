/** The native launcher of this build, driven without a daemon. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { parseDelays } from '../../../src/drivers/process/shim/delays.ts';
import { findNative } from '../../../src/drivers/process/shim/native.ts';
import { encodeRequest, type ShimRequest } from '../../../src/drivers/process/shim/request.ts';
import { waitFor } from '../../support/wait-for.ts';

type Asked = Pick<ShimRequest, 'run' | 'runsDir' | 'log' | 'command'> & Partial<ShimRequest>;

/** A request for a run without any bonds, unless told. */
export const requestFor = (asked: Asked): Buffer =>
  encodeRequest({
    ...{ number: 1, staging: null, meta: '{}', cgroup: null, cwd: '/', shell: '/bin/sh', softNofile: null },
    ...{ bounds: null, account: null, delays: parseDelays(undefined), env: { PATH: '/usr/bin:/bin' } },
    ...asked,
  });

export const nativePath = (): string => {
  const { path, why } = findNative();
  if (path === null) throw new Error(why);
  return path;
};

/** In a directory that is there. Resolves when the shim has ended. */
export async function spawnNativeShim(asked: Asked): Promise<void> {
  const child = start(['shim', `${asked.runsDir}/`, asked.run]);
  const exit = once(child, 'exit');
  channelOf(child).end(requestFor(asked));
  await exit;
}

export const start = (args: readonly string[], wrapper: readonly string[] = []): ChildProcess => {
  const [program = '', ...rest] = [...wrapper, nativePath(), ...args];
  return spawn(program, rest, { cwd: '/', env: {}, detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
};

export const channelOf = (child: ChildProcess): Socket => child.stdio[3] as Socket;

/** A launcher and what it says. */
export class BareLauncher implements AsyncDisposable {
  readonly child: ChildProcess;
  #said = '';

  /** `wrapper`: a program that starts it. */
  constructor(runsDir: string, wrapper: readonly string[] = []) {
    this.child = start(['launcher', `${runsDir}/`, '-'.repeat(80)], wrapper);
    channelOf(this.child)
      .setEncoding('utf8')
      .on('data', (text: unknown) => {
        this.#said += String(text);
      })
      .on('error', () => {});
  }

  send(bytes: Buffer): void {
    channelOf(this.child).write(bytes);
  }

  /** A line that begins so. */
  async says(begin: string): Promise<string> {
    return waitFor(`the launcher to say "${begin}"`, () =>
      this.#said
        .split('\n')
        .slice(0, -1)
        .find((line) => line.startsWith(begin)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    channelOf(this.child).end();
    await exit;
  }
}
