/** Where the last lines of a log begin, found from its end, without reading more of it than that takes and without holding it. */
import type { Matcher } from './match.ts';
import { scanBreaks, scanMatches, type Window } from './scan.ts';
import type { LogSpace } from './space.ts';

const WINDOW_BYTES = 64 * 1024;
const MAX_WINDOW_BYTES = 4 * 1024 * 1024;

export interface Newest {
  /** A line begins here, or nothing is kept that is so old. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Only lines that fit count; null: all. */
  readonly matcher: Matcher | null;
  /** No further back than this, however few lines that gives. */
  readonly maxBytes: number;
}

/** Goes back window by window. A compressed part is one window: it can only be read from its beginning. */
export async function newestLines(space: LogSpace, { from, to, count, matcher, maxBytes }: Newest): Promise<number> {
  const end = Math.min(await space.end(), to);
  const first = Math.max(from, end - maxBytes);
  let missing = count;
  let found: number | null = null;
  let windowBytes = WINDOW_BYTES;
  for (let at = end; at > first && missing > 0; windowBytes = Math.min(MAX_WINDOW_BYTES, windowBytes * 2)) {
    const segment = await space.segmentBefore(at);
    if (!segment || segment.to <= first) break;
    const begin = Math.max(first, segment.from, segment.whole ? 0 : segment.to - windowBytes);
    const window: Window = {
      from: begin,
      to: segment.to,
      isOpen: begin === from || (begin === segment.from && segment.isBroken),
      lastStart: segment.to === at && at < end ? at : segment.to - 1,
    };
    const starts = new LastOf(missing);
    if (matcher) await scanMatches(space, window, matcher, (start) => starts.add(start));
    else await scanBreaks(space, window, (start) => starts.add(start));
    found = starts.first ?? found;
    missing -= starts.count;
    at = begin;
  }
  return found ?? (matcher || count === 0 ? end : first); // rather a part of a line than nothing at all
}

/** The last so many of a long row of numbers. */
class LastOf {
  readonly #capacity: number;
  readonly #ring: number[] = [];
  #added = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(value: number): void {
    this.#ring[this.#added++ % this.#capacity] = value;
  }

  get count(): number {
    return this.#ring.length;
  }

  get first(): number | null {
    return this.#ring[this.#added > this.#capacity ? this.#added % this.#capacity : 0] ?? null;
  }
}
