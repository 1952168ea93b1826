/** A keeper over real files, with what it told, and somebody who writes as components do. */
import { appendFileSync, closeSync, existsSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { systemClock } from '../../../src/base/clock.ts';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { parsePartFile, TimeEntryReader } from '../../../src/logs/format.ts';
import { type LogKeeper, type LogKeeperOptions, openLogKeeper } from '../../../src/logs/keep/keeper.ts';
import type { LogBounds, LogKeeping } from '../../../src/supervision/spec.ts';
import { recordingLog, type Said } from '../probes-log/log-world.ts';

export interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface KeptPart {
  readonly file: string;
  readonly base: number;
  readonly bytes: Buffer;
}

export class KeeperWorld {
  readonly dir: string;
  readonly told: Told[] = [];
  readonly said: readonly Said[];
  keeping: LogKeeping = { maxBytes: 256 * 1024, keep: 100, compress: false };
  bounds: LogBounds = { maxTotalBytes: 10 ** 12, minFreeBytes: 0 };
  readonly #log: LogKeeperOptions['log'];

  constructor(dir: string) {
    this.dir = dir;
    const { log, said } = recordingLog();
    this.said = said;
    this.#log = log;
  }

  open(over: Partial<LogKeeperOptions> = {}): Promise<LogKeeper> {
    return openLogKeeper({
      dir: this.dir,
      clock: systemClock,
      log: this.#log,
      failpoints: noFailpoints,
      freeRule: { bytes: 1e9, ratio: 0.05, atMostRatio: 0.25 },
      keeping: () => this.keeping,
      bounds: () => this.bounds,
      tell: (type, data) => void this.told.push({ type, data }),
      holdStill: async () => () => {},
      isRunning: () => true,
      ...over,
    });
  }

  /** Begun, and closed with `await using`. */
  async begun(over: Partial<LogKeeperOptions> = {}): Promise<LogKeeper> {
    const keeper = await this.open(over);
    keeper.begin();
    return keeper;
  }

  path(file: string): string {
    return `${this.dir}/${file}`;
  }

  write(name: string, text: string | Buffer): void {
    appendFileSync(this.path(`${name}.log`), text);
  }

  /** As a component has it open. */
  writer(name: string): { write(text: string | Buffer): void } & Disposable {
    const fd = openSync(this.path(`${name}.log`), 'a');
    return { write: (text) => void writeSync(fd, text as Buffer), [Symbol.dispose]: () => closeSync(fd) };
  }

  /** Sorted by position; markers of a shortening that is under way are among them. */
  parts(name: string): readonly KeptPart[] {
    for (;;) {
      const parts = new Map<number, KeptPart | null>();
      const files = readdirSync(this.dir).filter((file) => parsePartFile(file)?.component === name);
      // A part that is just being compressed has both names, or the one it had goes while we look: then once more.
      for (const file of files.sort()) parts.set(parsePartFile(file)!.base, this.#part(file));
      const all = [...parts.values()].filter((part) => part !== null);
      if (all.length === parts.size) return all;
    }
  }

  #part(file: string): KeptPart | null {
    try {
      const stored = readFileSync(this.path(file));
      return { file, base: parsePartFile(file)!.base, bytes: file.endsWith('.gz') ? gunzipSync(stored) : stored };
    } catch {
      return null;
    }
  }

  /** All that is kept, in order. */
  all(name: string): Buffer {
    return Buffer.concat([...this.parts(name).map(({ bytes }) => bytes), readFileSync(this.path(`${name}.log`))]);
  }

  facts(name: string) {
    const reader = new TimeEntryReader();
    const path = this.path(`${name}.log.times`);
    return (existsSync(path) ? readFileSync(path, 'latin1') : '')
      .split('\n')
      .flatMap((line) => reader.read(line) ?? []);
  }

  base(name: string): number {
    const fact = this.facts(name).findLast(({ kind }) => kind === 'base');
    return fact?.position ?? 0;
  }

  /** That nothing is missing between the parts and the log. */
  gaps(name: string): readonly string[] {
    const parts = this.parts(name);
    const ends = [...parts.map(({ base }) => base).slice(1), this.base(name)];
    return parts.flatMap(({ base, bytes }, at) =>
      base + bytes.length === ends[at] ? [] : [`${base} + ${bytes.length} is not ${ends[at]}`],
    );
  }
}

/** Lines with a number each, from `first` on. */
export function numbered(first: number, count: number): string {
  let text = '';
  for (let n = first; n < first + count; n++) text += `line ${String(n).padStart(9, '0')}\n`;
  return text;
}

export interface Missed {
  readonly lost: number;
  readonly doubled: number;
  readonly torn: number;
}

/** Compares numbered lines with what they should be: 0 … count - 1, in order. */
export function missed(text: Buffer, count: number): Missed {
  let [next, lost, doubled, torn] = [0, 0, 0, 0];
  for (const line of text.toString('latin1').split('\n').slice(0, -1)) {
    const number = /^line (\d{9})$/.exec(line)?.[1];
    if (number === undefined) torn++;
    else if (Number(number) < next) doubled++;
    else {
      lost += Number(number) - next;
      next = Number(number) + 1;
    }
  }
  return { lost: lost + count - next, doubled, torn };
}
