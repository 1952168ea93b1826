/** A fixture program in its own process, heard line by line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { waitFor } from '../../support/wait-for.ts';

/** `using` one: a test that fails or gives up leaves no process behind. */
export interface Program extends Disposable {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  tell(line: string): void;
  onLine(listener: (line: string) => void): void;
  /** Waits until it has said a line that begins so, and gives back the rest of it. */
  said(beginning: string): Promise<string>;
  /** Resolves once it is gone and everything it said is in `lines`. */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly stderr: string;
  }>;
}

export function run(command: readonly string[]): Program {
  const child = spawn(command[0]!, command.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const listeners: ((line: string) => void)[] = [];
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const listener of listeners) listener(line);
  });
  const heard = (beginning: string) => lines.find((line) => line.startsWith(beginning));
  return {
    child,
    lines,
    tell: (line) => void child.stdin.write(`${line}\n`),
    onLine: (listener) => void listeners.push(listener),
    said: async (beginning) => {
      const line = await waitFor(`"${beginning}" from ${command.join(' ')}\n${stderr}`, () => heard(beginning));
      return line.slice(beginning.length).trim();
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
    ended: once(child, 'close').then(([code, signal]) => ({ code, signal, stderr }) as never),
  };
}

export const runNode = (path: string, ...args: readonly string[]): Program => run([process.execPath, path, ...args]);
