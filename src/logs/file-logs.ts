/** The logs of a project, read from its files in small bites: whoever follows a log must not hold up the daemon. */
import { NAME_PATTERN } from '../base/pure/ids.ts';
import { loggedNames } from './names.ts';
import type { LogBatch, LogCursor, LogLineView, Logs, LogsQuery } from './ports.ts';
import type { Wanted } from './read/beginning.ts';
import { inOrder } from './read/interleave.ts';
import { matcherOf } from './read/match.ts';
import { ComponentReader } from './read/reader.ts';

/** Bytes of one log in one go. */
const BITE_BYTES = 256 * 1024;
/** The same for all logs together, as long as that leaves something for each. */
const BITES_BYTES = 8 * 1024 * 1024;
const MIN_BITE_BYTES = 16 * 1024;

export interface ReadOptions {
  /** The last lines of many logs are looked for in no more than this together. Default: no limit. */
  readonly tailBytes?: number;
  /** What people should know beside the lines. */
  readonly onNote?: (component: string, note: string) => void;
}

/** For programs that ask the daemon: it answers with the newest lines rather than with all that were asked for. */
const ANSWER_TAIL_BYTES = 8 * 1024 * 1024;

export function fileLogs(dir: string): Logs {
  return {
    names: () => loggedNames(dir),
    open: (query) => new FileCursor(dir, query, { tailBytes: ANSWER_TAIL_BYTES }),
  };
}

/** `all`: no matter how many lines. */
export type FileQuery = Omit<LogsQuery, 'tail'> & { readonly tail: number | 'all' };

export class FileCursor implements LogCursor {
  readonly #readers = new Map<string, ComponentReader>();
  readonly #read: (component: string, isNew: boolean) => ComponentReader;
  /** Null: only those that were named. */
  readonly #newNames: (() => readonly string[]) | null;
  readonly #bite: number;

  constructor(dir: string, query: FileQuery, { tailBytes = Number.MAX_SAFE_INTEGER, onNote }: ReadOptions = {}) {
    const { components, after } = query;
    const names = (components.length === 0 ? loggedNames(dir) : components).filter((name) => NAME_PATTERN.test(name));
    this.#newNames = components.length === 0 ? () => loggedNames(dir) : null;
    this.#bite = biteFor(names.length);
    const matcher = query.grep ? matcherOf(query.grep) : null;
    const maxTailBytes = Math.max(MIN_BITE_BYTES, Math.floor(tailBytes / Math.max(1, names.length)));
    this.#read = (component, isNew) => {
      const wanted: Wanted = {
        tail: isNew || query.tail === 'all' ? null : query.tail,
        maxTailBytes,
        after: Object.hasOwn(after, component) ? after[component]! : null,
        sinceMs: query.sinceMs ?? null,
        untilMs: query.untilMs ?? null,
        previous: query.previous ?? false,
        matcher,
        onNote: (note) => onNote?.(component, note),
      };
      return new ComponentReader(dir, component, wanted);
    };
    for (const name of names) this.#readers.set(name, this.#read(name, false));
  }

  /** In the order of the names. */
  get readers(): readonly ComponentReader[] {
    return [...this.#readers.values()];
  }

  async read(): Promise<LogBatch> {
    for (const name of this.#newNames?.() ?? [])
      if (!this.#readers.has(name)) this.#readers.set(name, this.#read(name, true));
    const batches: LogBatch[] = [];
    for (const reader of this.readers) batches.push(await reader.read(this.#bite));
    return { lines: inOrder(batches.map(({ lines }) => lines)), more: batches.some(({ more }) => more) };
  }

  async rest(): Promise<readonly LogLineView[]> {
    const rests: (readonly LogLineView[])[] = [];
    for (const reader of this.readers) rests.push(await reader.rest());
    return inOrder(rests);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const reader of this.readers) await reader[Symbol.asyncDispose]();
    this.#readers.clear();
  }
}

/** So many bytes of each, with so many of them. */
export const biteFor = (count: number): number =>
  Math.min(BITE_BYTES, Math.max(MIN_BITE_BYTES, Math.floor(BITES_BYTES / Math.max(1, count))));
