/** Cuts bytes into lines with bounded memory: a line without end is cut, and says how much is missing. */
import { StringDecoder } from 'node:string_decoder';

export const MAX_LINE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export interface Line {
  /** Whole characters only, whatever the chunk borders were. */
  readonly text: string;
  /** Bytes left out at its end. */
  readonly cutBytes: number;
  /** Where the line begins in the file. */
  readonly offset: number;
}

export class LineSplitter {
  readonly #onLine: (line: Line) => void;
  #parts: Buffer[] = [];
  #kept = 0;
  #cut = 0;
  #lineStart: number;
  #at: number;

  /** `offset`: where in the file the first byte comes from. */
  constructor(onLine: (line: Line) => void, offset = 0) {
    this.#onLine = onLine;
    this.#lineStart = offset;
    this.#at = offset;
  }

  /** Where the line begins whose end has not come yet. */
  get lineStart(): number {
    return this.#lineStart;
  }

  /** The chunk may be used again by the caller afterwards. */
  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      if (this.#lineStart === this.#at && end - from <= MAX_LINE_BYTES) this.#emitWhole(chunk, from, end);
      else {
        this.#keep(chunk.subarray(from, end));
        this.#at++;
        this.#finish();
      }
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** The end of the file: what is there without a line break is a line too. */
  flush(): void {
    if (this.#kept + this.#cut > 0) this.#finish();
  }

  /** A line that lies in one chunk, as nearly all do, needs no copy. */
  #emitWhole(chunk: Buffer, from: number, end: number): void {
    const offset = this.#at;
    this.#at += end + 1 - from;
    this.#lineStart = this.#at;
    this.#onLine({ text: chunk.toString('utf8', from, end), cutBytes: 0, offset });
  }

  #keep(bytes: Buffer): void {
    const room = Math.min(bytes.length, MAX_LINE_BYTES - this.#kept);
    if (room > 0) this.#parts.push(Buffer.from(bytes.subarray(0, room)));
    this.#kept += room;
    this.#cut += bytes.length - room;
    this.#at += bytes.length;
  }

  #finish(): void {
    // A decoder that is never ended leaves out the half character at a cut.
    const text =
      this.#cut > 0
        ? new StringDecoder('utf8').write(Buffer.concat(this.#parts))
        : Buffer.concat(this.#parts).toString('utf8');
    const line = { text, cutBytes: this.#cut, offset: this.#lineStart };
    this.#parts = [];
    this.#kept = 0;
    this.#cut = 0;
    this.#lineStart = this.#at;
    this.#onLine(line);
  }
}
