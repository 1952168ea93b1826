/** The logs of a project, read from its files in small bites: whoever follows a log must not hold up the daemon. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { NAME_PATTERN } from '../../core/ids.ts';
import type { LogCursor, LogLineView, Logs, LogsQuery } from '../../ports/logs.ts';
import { LogFile } from './log-file.ts';

const ENDING = '.log';
/** Bytes of one log in one go. */
const BITE_BYTES = 256 * 1024;
/** The last lines of many logs are looked for in no more than this together, and in no less than the second of each. */
const TAIL_BYTES = 8 * 1024 * 1024;
const MIN_TAIL_BYTES = 16 * 1024;

export function fileLogs(dir: string): Logs {
  const names = (): readonly string[] => loggedNames(dir);
  return { names, open: (query) => new FileCursor(dir, query, names) };
}

function loggedNames(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
      .flatMap((file) => (file.endsWith(ENDING) ? [file.slice(0, -ENDING.length)] : []))
      .filter((name) => NAME_PATTERN.test(name))
      .sort();
  } catch {
    return []; // no directory: nothing was ever started
  }
}

class FileCursor implements LogCursor {
  readonly #dir: string;
  readonly #files = new Map<string, LogFile>();
  /** Null: only those that were named. */
  readonly #newNames: (() => readonly string[]) | null;
  #lines: LogLineView[] = [];
  /** At most so much of each file at once; the first time it has to hold the whole tail. */
  readonly #bite: number;
  #firstBite: number | null;

  constructor(dir: string, { components, tail, after }: LogsQuery, names: () => readonly string[]) {
    this.#dir = dir;
    this.#newNames = components.length === 0 ? names : null;
    const chosen = (components.length === 0 ? names() : components).filter((name) => NAME_PATTERN.test(name));
    const maxBytes = Math.max(MIN_TAIL_BYTES, Math.floor(TAIL_BYTES / Math.max(1, chosen.length)));
    this.#firstBite = maxBytes;
    this.#bite = Math.min(BITE_BYTES, maxBytes);
    for (const name of chosen) {
      const file = this.#open(name);
      if (Object.hasOwn(after, name)) file.seekBehind(after[name]!);
      else file.seekTail({ count: tail, wanted: null, maxBytes });
    }
  }

  read(): readonly LogLineView[] {
    for (const name of this.#newNames?.() ?? []) if (!this.#files.has(name)) this.#open(name);
    for (const file of this.#files.values()) file.read(this.#firstBite ?? this.#bite);
    this.#firstBite = null;
    return this.#take();
  }

  rest(): readonly LogLineView[] {
    for (const file of this.#files.values()) file.flush();
    return this.#take();
  }

  [Symbol.dispose](): void {
    for (const file of this.#files.values()) file[Symbol.dispose]();
    this.#files.clear();
  }

  #take(): readonly LogLineView[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  #open(component: string): LogFile {
    const file = new LogFile(join(this.#dir, `${component}${ENDING}`), {
      onLine: ({ text, cutBytes, offset }) => this.#lines.push({ component, line: text, cut_bytes: cutBytes, offset }),
      onRestart: () => {}, // the offsets say so
    });
    this.#files.set(component, file);
    return file;
  }
}
