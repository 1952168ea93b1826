/** Owns the terminal while `keepwell top` is open, and gives it back as it was whatever ends the process. Beside main.ts it touches `process`. */
import { writeSync } from 'node:fs';

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l';
/** A stop takes effect at once; where nobody does job control it never does, and we go on. */
const STOPPED_BY_THEN_MS = 100;

export interface TtyEvents {
  onKeys(text: string): void;
  /** The size changed, or somebody else has drawn on it. */
  onChange(): void;
}

export class Tty implements Disposable {
  readonly #events: TtyEvents;
  #isOpen = false;
  #isOver = false;

  constructor(events: TtyEvents) {
    this.#events = events;
    process.once('exit', this.#leave);
    process.on('uncaughtExceptionMonitor', this.#leave);
    process.on('SIGHUP', this.#onHangup);
    process.on('SIGTSTP', this.suspend);
    process.on('SIGCONT', this.#resume);
    process.stdout.on('resize', this.#onResize).prependListener('error', this.#onHangup);
    process.stdin.setEncoding('utf8').on('data', this.#onData).on('end', this.#onHangup).on('error', this.#onHangup);
    this.#enter();
  }

  write(text: string): void {
    if (this.#isOpen && text !== '') process.stdout.write(text);
  }

  /** Ctrl Z: the whole job stops, as it would without raw mode; `fg` brings the screen back. */
  readonly suspend = (): void => {
    if (this.#isOver) return;
    this.#leave();
    process.removeListener('SIGTSTP', this.suspend);
    process.kill(0, 'SIGTSTP');
    setTimeout(this.#resume, STOPPED_BY_THEN_MS);
  };

  readonly #resume = (): void => {
    if (this.#isOver) return;
    if (process.listenerCount('SIGTSTP') === 0) process.on('SIGTSTP', this.suspend);
    this.#isOpen = false; // whoever stopped us without asking has had the terminal, too
    this.#enter();
    this.#events.onChange();
  };

  readonly #onResize = (): void => this.#events.onChange();
  readonly #onData = (text: string): void => this.#events.onKeys(text);
  /** By the signal itself: `process.exit` makes Node reset a terminal that is gone, and that ends in a segmentation fault (Node 20). */
  readonly #onHangup = (): void => {
    this.#leave();
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
  };

  #enter(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    process.stdin.setRawMode(true);
    process.stdin.resume();
    process.stdout.write(ENTER);
  }

  /** At once and not later: the process may end with the next line. */
  readonly #leave = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      process.stdin.setRawMode(false);
      writeSync(1, LEAVE);
    } catch {
      // The terminal is gone: nothing to give back.
    }
  };

  [Symbol.dispose](): void {
    this.#leave();
    this.#isOver = true;
    process.removeListener('SIGHUP', this.#onHangup);
    process.removeListener('SIGTSTP', this.suspend);
    process.removeListener('SIGCONT', this.#resume);
    process.stdout.removeListener('resize', this.#onResize).removeListener('error', this.#onHangup);
    process.stdin.removeListener('data', this.#onData).removeListener('end', this.#onHangup);
    process.stdin.pause();
  }
}

/** A terminal that knows it shows nothing before the end; others ignore it. */
const BEGIN = '\u001b[?2026h';
const END = '\u001b[?2026l';
const CLEAR = '\u001b[2J';
/** Before the line, not behind it: at the right edge it would take the last character. */
const CLEAR_LINE = '\u001b[K';
const PLAIN = '\u001b[0m';

/** `before`: null when nobody knows what is there. Empty: nothing has to be written. */
export function paintLines(before: readonly string[] | null, after: readonly string[]): string {
  const count = Math.max(before?.length ?? 0, after.length);
  let text = before === null ? CLEAR : '';
  for (let at = 0; at < count; at += 1) {
    const line = after[at] ?? '';
    if (line !== (before === null ? '' : (before[at] ?? ''))) text += `\u001b[${at + 1};1H${CLEAR_LINE}${line}${PLAIN}`;
  }
  return text === '' ? '' : `${BEGIN}${text}${END}`;
}
