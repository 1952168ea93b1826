/** Lines of a log that begin with their time: which of them are new, and without their time. */

export interface Written {
  readonly stamp: string;
  /** How many lines had that time. */
  readonly lines: number;
}

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?/;
const NANO_DIGITS = 9;

/** Tells apart what was written before, when a log is read once more from a second that was read already. */
export class NewLines {
  #last: Written | null;
  /** Lines with the last time that were seen in this reading. */
  #again = 0;

  constructor(written: Written | null) {
    this.#last = written;
  }

  get written(): Written | null {
    return this.#last;
  }

  /** A reading begins, at the second of the last line or before. */
  begin(): void {
    this.#again = 0;
  }

  /** The line without its time; null: it was written before. */
  take(line: string): string | null {
    const found = STAMP.exec(line);
    if (found === null) return line; // the kubelet says something of its own
    const stamp = `${found[1]}.${(found[2] ?? '').padEnd(NANO_DIGITS, '0')}${found[3]}`;
    const text = line.slice(found[0].length);
    const last = this.#last;
    if (last !== null && stamp < last.stamp) return null;
    if (last !== null && stamp === last.stamp) {
      this.#again++;
      if (this.#again <= last.lines) return null;
      this.#last = { stamp, lines: this.#again };
      return text;
    }
    this.#again = 1;
    this.#last = { stamp, lines: 1 };
    return text;
  }
}
