/** Prints what components wrote, several of them in the order of time, and goes on with what they write. */
import { homePaths } from '../../base/home.ts';
import type { FileCursor } from '../../logs/file-logs.ts';
import type { LogLineView, LogsFilter } from '../../logs/ports.ts';
import type { CliCall } from '../call.ts';
import { pause } from '../interrupt.ts';
import type { Brush, Paint } from '../print/colour.ts';
import { localTime } from '../print/json.ts';
import { sanitise } from '../print/sanitise.ts';

const POLL_MS = 200;
/** Lines that are written to the terminal together. */
const MAX_HELD_LINES = 500;

export interface ShownLogs extends LogsFilter {
  /** Empty: all that wrote something, also those that begin to later. */
  readonly names: readonly string[];
  /** Lines of each to begin with; null: all that are meant. */
  readonly tail: number | null;
  /** With "name | " in front of each line. Default: when there are several. */
  readonly prefixed?: boolean;
  readonly timestamps?: boolean;
  /** Of agents, not of components. */
  readonly ofAgents?: boolean;
}

export async function showLogs(call: CliCall, shown: ShownLogs): Promise<void> {
  const { biteFor, interleaved } = await import('../../logs/open.ts');
  await using cursor = await open(call, shown);
  const { readers } = cursor;
  const printer = new Printer(
    call,
    shown,
    readers.map(({ component }) => component),
  );
  for await (const line of interleaved(readers, biteFor(readers.length))) printer.add(line);
  printer.flush();
}

/** Until Ctrl-C. */
export async function followLogs(call: CliCall, shown: ShownLogs): Promise<never> {
  const { signal } = call;
  await using cursor = await open(call, shown);
  const printer = new Printer(
    call,
    shown,
    cursor.readers.map(({ component }) => component),
  );
  for (;;) {
    const { lines, more } = await cursor.read();
    for (const line of lines) printer.add(line);
    printer.flush();
    signal.throwIfAborted();
    if (!more) await pause(POLL_MS, signal);
  }
}

async function open(call: CliCall, shown: ShownLogs): Promise<FileCursor> {
  const { FileCursor } = await import('../../logs/open.ts');
  const { names, tail, sinceMs, untilMs, grep, previous } = shown;
  const query = { components: names, tail: tail ?? ('all' as const), after: {}, sinceMs, untilMs, grep, previous };
  const onNote = (component: string, note: string) => call.note(`${component}: ${note}`);
  const { logs, agentLogs } = homePaths(call.project.home);
  return new FileCursor(shown.ofAgents ? agentLogs : logs, query, { onNote });
}

/** Many lines at once are written together: each write costs more than the line. */
export class Printer {
  readonly #call: CliCall;
  readonly #prefixed: boolean;
  readonly #timestamps: boolean;
  readonly #without = new Set<string>();
  #nameWidth: number;
  #held: LogLineView[] = [];

  constructor(call: CliCall, { prefixed, timestamps = false }: ShownLogs, names: readonly string[]) {
    this.#call = call;
    this.#prefixed = prefixed ?? names.length > 1;
    this.#timestamps = timestamps;
    this.#nameWidth = Math.max(0, ...names.map((name) => name.length));
  }

  add(line: LogLineView): void {
    this.#held.push(line);
    if (this.#held.length >= MAX_HELD_LINES) this.flush();
  }

  flush(): void {
    const held = this.#held;
    this.#held = [];
    if (held.length === 0) return;
    const call = this.#call;
    for (const { component, at } of held) {
      this.#nameWidth = Math.max(this.#nameWidth, component.length);
      if (at === null && this.#timestamps) this.#noteUnknown(component);
    }
    if (call.json) for (const line of held) call.printJsonLine(line);
    const nameWidth = this.#prefixed ? this.#nameWidth : 0;
    const form = { paint: call.paint, timestamps: this.#timestamps, nameWidth };
    call.print(held.map((line) => lineText(line, form)).join('\n'));
  }

  #noteUnknown(component: string): void {
    if (this.#without.has(component)) return;
    this.#without.add(component);
    this.#call.note(`${component}: when some of its lines were written is not known`);
  }
}

// Log lines as people see them: name and time in front, harmless on a terminal.

export interface LineForm {
  readonly paint: Paint;
  /** The time in front. */
  readonly timestamps: boolean;
  /** So wide are the names in front; 0: none. */
  readonly nameWidth: number;
}

const UNKNOWN_TIME = '-'.padEnd('2026-01-02 03:04:05'.length);

export function lineText({ component, line, at, cut_bytes: cutBytes }: LogLineView, form: LineForm): string {
  const { paint, timestamps, nameWidth } = form;
  const time = timestamps ? `${paint.dim(at === null ? UNKNOWN_TIME : localTime(at))} ` : '';
  const name = nameWidth > 0 ? `${brushFor(component, paint)(component.padEnd(nameWidth))} | ` : '';
  const mark = cutBytes > 0 ? ` … ${cutBytes} bytes cut` : '';
  return `${time}${name}${sanitise(line, { colours: paint.isColorSupported })}${mark}`;
}

/** The same colour for the same name, whoever else is shown. */
function brushFor(name: string, paint: Paint): Brush {
  const brushes = [paint.cyan, paint.yellow, paint.green, paint.magenta, paint.blue];
  let sum = 0;
  for (const char of name) sum = (sum * 31 + char.charCodeAt(0)) % 1_000_003;
  return brushes[sum % brushes.length]!;
}
