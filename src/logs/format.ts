/**
 * How the log of a component lies on the disk, for those who keep it and those who read it.
 *
 * A *position* counts the bytes a component has ever written; it never goes back. `NAME.log` holds the newest bytes, from a
 * position called its base. Older ones lie in *parts*, `NAME.log.<base>` or `NAME.log.<base>.gz`, with the position of their
 * first byte as a number of fixed length: sorted by name they are in order. A part ends anywhere, also within a line.
 *
 * `NAME.log.times` says when what was written, one fact a line, only ever appended to (and rewritten as a whole, by rename, when
 * old parts have gone):
 *
 *   base POSITION         NAME.log begins here from now on
 *   at POSITION MS        everything before this position was written before this time (milliseconds since 1970)
 *   +BYTES MS             the same, counted from the last `at` or `+`
 *   run POSITION MS ID    what follows was written by this run
 *
 * Putting the head of a log aside happens in an order that survives a kill at any point: the part appears (by rename), the head is
 * cut off, the new base is written. Between the first and the last a part reaches beyond the base; then whether the head is still
 * there is seen by comparing it with the part. What is dropped instead of kept leaves such a part too (its first bytes, and its last
 * ones), until the new base is written.
 */

const BASE_DIGITS = 15;

export const logFile = (component: string): string => `${component}.log`;
export const timesFile = (component: string): string => `${component}.log.times`;

export function partFile(component: string, base: number, form: 'plain' | 'gz'): string {
  const digits = String(base).padStart(BASE_DIGITS, '0');
  return `${component}.log.${digits}${form === 'gz' ? '.gz' : ''}`;
}

export interface PartName {
  readonly component: string;
  readonly base: number;
  readonly form: 'plain' | 'gz';
}

const PART = /^(.+)\.log\.(\d{15})(\.gz)?$/;

/** Null: the file is something else. */
export function parsePartFile(file: string): PartName | null {
  const [, component, digits, gz] = PART.exec(file) ?? [];
  return component === undefined ? null : { component, base: Number(digits), form: gz ? 'gz' : 'plain' };
}

export type TimeEntry =
  | { readonly kind: 'base'; readonly position: number }
  | { readonly kind: 'at'; readonly position: number; readonly wallMs: number }
  | { readonly kind: 'run'; readonly position: number; readonly wallMs: number; readonly run: string };

export type Moment = Extract<TimeEntry, { kind: 'at' }>;

/** One line, its break included. `last`: the moment written before it, which makes a short line possible. */
export function timeEntryLine(fact: TimeEntry, last: Moment | null): string {
  switch (fact.kind) {
    case 'base':
      return `base ${fact.position}\n`;
    case 'run':
      return `run ${fact.position} ${fact.wallMs} ${fact.run}\n`;
    case 'at': {
      const bytes = last ? fact.position - last.position : -1;
      const ms = last ? fact.wallMs - last.wallMs : -1;
      return bytes >= 0 && ms >= 0 ? `+${bytes} ${ms}\n` : `at ${fact.position} ${fact.wallMs}\n`;
    }
    default:
      throw new Error(`no such fact: ${JSON.stringify(fact satisfies never)}`);
  }
}

/** Reads line by line; a line that makes no sense (a kill in the middle of writing, a full disk) is left out. */
export class TimeEntryReader {
  #last: Moment | null = null;

  read(line: string): TimeEntry | null {
    const fact = this.#parse(line);
    if (fact?.kind === 'at') this.#last = fact;
    return fact;
  }

  #parse(line: string): TimeEntry | null {
    const [word = '', ...rest] = line.split(' ');
    const [first = Number.NaN, second = Number.NaN] = rest
      .slice(0, 2)
      .map((text) => (/^\d+$/.test(text) ? Number(text) : Number.NaN));
    if (word === 'base' && rest.length === 1) return valid({ kind: 'base', position: first });
    if (word === 'at' && rest.length === 2) return valid({ kind: 'at', position: first, wallMs: second });
    if (word === 'run' && rest.length === 3 && rest[2])
      return valid({ kind: 'run', position: first, wallMs: second, run: rest[2] });
    if (!/^\+\d+$/.test(word) || rest.length !== 1 || !this.#last) return null;
    const { position, wallMs } = this.#last;
    return valid({ kind: 'at', position: position + Number(word.slice(1)), wallMs: wallMs + first });
  }
}

function valid(fact: TimeEntry): TimeEntry | null {
  const numbers = fact.kind === 'base' ? [fact.position] : [fact.position, fact.wallMs];
  return numbers.every((number) => Number.isSafeInteger(number)) ? fact : null;
}
