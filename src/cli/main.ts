/** The program: hands the process to `runCli`. Apart from the demo and the screen of `top`, the only part of the CLI that touches `process`. */
import type { WriteStream } from 'node:tty';
import { VERSION } from '../version.ts';
import type { Terminal } from './call.ts';
import { failureText, toAppError } from './failure.ts';
import { Interrupted } from './interrupt.ts';
import { noPaint } from './print/colour.ts';
import { EXIT_INTERRUPTED, runCli } from './run.ts';

const terminal = (stream: WriteStream): Terminal => ({
  write: (text) => void stream.write(text),
  get isTty() {
    return stream.isTTY === true;
  },
  get columns() {
    return stream.columns || undefined; // 0 where nobody knows
  },
  get rows() {
    return stream.rows || undefined;
  },
});

/** SIGTERM comes from `timeout 10 keepwell health`: what the command started must not stay behind then either. */
const INTERRUPTS = { SIGINT: EXIT_INTERRUPTED, SIGTERM: 143 } as const;

let interrupted: AbortController | null = null;
let interruptedCode: number = EXIT_INTERRUPTED;

let rushed: AbortController | null = null;

/** For a command that must put things away whatever happens: the second Ctrl-C aborts this one, only the third ends the process. */
function interruptAgain(): AbortSignal {
  if (rushed === null) {
    rushed = new AbortController();
    interrupt();
    // The terminal was closed: as if somebody had pressed Ctrl-C.
    process.on('SIGHUP', () => interrupted?.abort(new Interrupted()));
  }
  return rushed.signal;
}

/** The first Ctrl-C ends what is waited for, the second one the process. */
function interrupt(): AbortSignal {
  if (interrupted === null) {
    const controller = new AbortController();
    interrupted = controller;
    for (const [name, code] of Object.entries(INTERRUPTS)) {
      process.on(name, () => {
        if (controller.signal.aborted && rushed !== null && !rushed.signal.aborted)
          return rushed.abort(new Interrupted());
        if (controller.signal.aborted) process.exit(code);
        interruptedCode = code;
        controller.abort(new Interrupted());
      });
    }
  }
  return interrupted.signal;
}

/** `keepwell logs | head`: the reader has seen enough, which is no error. A full disk is. */
function onBrokenOutput(error: NodeJS.ErrnoException): void {
  if (rushed !== null) return; // nobody reads any more; what was begun is put away all the same
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
  fail(error);
}

/** Our own mistakes, in the form of every other error. The daemon has a better handler and brings it along. */
function fail(error: unknown): void {
  if (process.listenerCount('uncaughtException') > 1) return;
  const form = { json: false, paint: noPaint, debug: process.env['KEEPWELL_DEBUG'] === '1' };
  process.stderr.write(failureText(error, form));
  process.exit(toAppError(error).exitCode);
}

process.stdout.on('error', onBrokenOutput);
process.stderr.on('error', onBrokenOutput);
process.on('uncaughtException', fail);

void runCli(process.argv.slice(2), {
  cwd: process.cwd(),
  env: process.env,
  uid: process.getuid?.() ?? 0,
  entry: process.argv[1]!,
  version: VERSION,
  node: process.versions.node,
  execPath: process.execPath,
  platform: process.platform,
  out: terminal(process.stdout),
  err: terminal(process.stderr),
  get inIsTty() {
    return process.stdin.isTTY === true;
  },
  interrupt,
  interruptAgain,
}).then((code) => {
  process.exitCode = code;
  if (code === EXIT_INTERRUPTED) process.exit(interruptedCode); // whatever was left running in here is not waited for
});
