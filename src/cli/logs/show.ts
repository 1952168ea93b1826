/** Prints log lines, of one file or of several side by side, and goes on with what is written. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { NAME_PATTERN } from '../../core/ids.ts';
import { homePaths } from '../../daemon/home.ts';
import type { Line } from '../../forensics/logs/lines.ts';
import { LogFile } from '../../forensics/logs/log-file.ts';
import { pause } from '../interrupt.ts';
import type { Brush, Paint } from '../print/colour.ts';
import { sanitise } from '../print/sanitise.ts';
import type { Session } from '../session.ts';

const POLL_MS = 200;

export interface Shown {
  readonly names: readonly string[];
  /** Lines of each to begin with. */
  readonly tail: number;
  readonly grep?: string | undefined;
  /** With "name | " in front of each line. Default: when there are several. */
  readonly prefixed?: boolean;
  /** Where the file of a name lies. Default: the log of the component. */
  pathOf?(name: string): string;
  /** Asked again and again while following: names that came up meanwhile. */
  newNames?(): readonly string[];
}

/** The components that have written something. */
export function loggedNames(session: Session): string[] {
  try {
    return readdirSync(homePaths(session.project.home).logs)
      .flatMap((file) => (file.endsWith('.log') ? [file.slice(0, -'.log'.length)] : []))
      .filter((name) => NAME_PATTERN.test(name))
      .sort();
  } catch {
    return []; // no directory: nothing was ever started
  }
}

export function showLogs(session: Session, shown: Shown): void {
  for (const file of openAll(session, shown)) {
    file.read();
    file.flush();
    file[Symbol.dispose]();
  }
}

/** Until Ctrl-C. */
export async function followLogs(session: Session, shown: Shown): Promise<never> {
  const { signal } = session;
  const files = openAll(session, shown);
  const known = new Set(shown.names);
  try {
    for (;;) {
      for (const name of shown.newNames?.() ?? []) {
        if (known.has(name)) continue;
        known.add(name);
        files.push(open(session, shown, name));
      }
      for (const file of files) file.read();
      await pause(POLL_MS, signal);
    }
  } finally {
    for (const file of files) file[Symbol.dispose]();
  }
}

function openAll(session: Session, shown: Shown): LogFile[] {
  return shown.names.map((name) => {
    const file = open(session, shown, name);
    const { grep } = shown;
    file.seekTail({ count: shown.tail, wanted: grep === undefined ? null : ({ text }) => text.includes(grep) });
    return file;
  });
}

function open(session: Session, shown: Shown, name: string): LogFile {
  const { grep, names, prefixed = names.length > 1 } = shown;
  const path = shown.pathOf?.(name) ?? join(homePaths(session.project.home).logs, `${name}.log`);
  const width = Math.max(...names.map((one) => one.length));
  const prefix = prefixed ? `${brushFor(name, session.paint)(name.padEnd(width))} | ` : '';
  return new LogFile(path, {
    onLine: (line) => {
      if (grep === undefined || line.text.includes(grep)) printLine(session, name, prefix, line);
    },
    onRestart: (why) => session.note(`${name}: its log was ${why}; going on from its beginning`),
  });
}

function printLine(session: Session, component: string, prefix: string, { text, cutBytes }: Line): void {
  session.printJsonLine({ component, line: text, ...(cutBytes > 0 ? { cut_bytes: cutBytes } : {}) });
  const mark = cutBytes > 0 ? ` … ${cutBytes} bytes cut` : '';
  session.print(`${prefix}${sanitise(text, { colours: session.paint.isColorSupported })}${mark}`);
}

/** The same colour for the same name, whoever else is shown. */
function brushFor(name: string, paint: Paint): Brush {
  const brushes = [paint.cyan, paint.yellow, paint.green, paint.magenta, paint.blue];
  let sum = 0;
  for (const char of name) sum = (sum * 31 + char.charCodeAt(0)) % 1_000_003;
  return brushes[sum % brushes.length]!;
}
