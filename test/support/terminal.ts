/** A program in a real pseudo-terminal, and what somebody in front of it sees. Python's standard library opens it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { waitFor } from './wait-for.ts';

export interface TerminalEnd {
  /** Below zero: the signal that ended it. */
  readonly code: number;
  /** The modes of the terminal are those from before; null: it was hung up. */
  readonly restored: boolean | null;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export class TestTerminal implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<TerminalEnd>;
  /** Everything that was written to it. */
  output = '';
  #told = '';

  constructor(command: readonly string[], { cwd, columns = 80, rows = 24, env = {} }: TerminalOptions) {
    const { KEEPWELL_HOME: _, NO_COLOR: __, ...inherited } = process.env;
    const script = resolve('test/support/terminal.py');
    this.#child = spawn('python3', [script, String(columns), String(rows), ...command], {
      cwd,
      env: { ...inherited, TERM: 'xterm-256color', ...env },
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#told += text;
    });
    this.#ended = new Promise((done, failed) => {
      this.#child.once('close', () => {
        const last = this.#told.trim().split('\n').at(-1)!;
        if (last.includes('"code"')) done(JSON.parse(last) as TerminalEnd);
        else failed(new Error(`the terminal failed: ${this.#told}`));
      });
    });
    this.#ended.catch(() => {});
  }

  async pid(): Promise<number> {
    return waitFor('the program to begin', () => Promise.resolve(Number(/"pid": (\d+)/.exec(this.#told)?.[1]) || null));
  }
  type(keys: string): void {
    this.#order({ keys });
  }
  resize(columns: number, rows: number): void {
    this.#order({ size: [columns, rows] });
  }
  hangUp(): void {
    this.#order({ hangup: true });
  }
  #order(order: object): void {
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
  }

  /** What is on it now, line by line. */
  get screen(): string {
    return screenOf(this.output);
  }
  /** Whether the alternate screen is shown. */
  get isAlternate(): boolean {
    return this.output.lastIndexOf('\u001b[?1049h') > this.output.lastIndexOf('\u001b[?1049l');
  }
  /** Returns what is seen then. */
  async until(what: string, fact: (screen: string) => boolean): Promise<string> {
    return waitFor(`the screen to show ${what}`, () => {
      const { screen } = this;
      return Promise.resolve(fact(screen) ? screen : null);
    });
  }
  async ended(): Promise<TerminalEnd> {
    return await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin!.end();
    await this.#ended.catch(() => {});
  }
}

const SEQUENCE = /\u001b\[(\d+);1H|\u001b\[2J|\u001b\[K|\u001b\[\??[0-9;]*[a-zA-Z]/y;

/** Understands what `top` writes, no more. */
function screenOf(output: string): string {
  const lines: string[] = [];
  let row = 0;
  for (let at = 0; at < output.length; ) {
    SEQUENCE.lastIndex = at;
    const found = SEQUENCE.exec(output);
    if (found === null) {
      if (output[at] === '\n') row += 1;
      else lines[row] = (lines[row] ?? '') + output[at];
      at += 1;
      continue;
    }
    at = SEQUENCE.lastIndex;
    if (found[1] !== undefined) row = Number(found[1]) - 1;
    else if (found[0] === '\u001b[2J') lines.length = 0;
    else if (found[0] === '\u001b[K') lines[row] = '';
  }
  return Array.from(lines, (line) => line ?? '').join('\n');
}
