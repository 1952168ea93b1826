/** What a command printed, bounded: its beginning and its end. Bytes that belong to one character are not torn apart. */
export class BoundedOutput {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #bytes = 0;

  constructor(headBytes: number, tailBytes: number) {
    this.#headBytes = headBytes;
    this.#tailBytes = tailBytes;
  }

  /** How many bytes there were in all. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  /** The chunk is not held on to: its memory may be used again. */
  add(chunk: Buffer): void {
    const toHead = Math.max(0, this.#headBytes - this.#bytes);
    this.#bytes += chunk.length;
    if (toHead > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, toHead)]);
    const rest = chunk.subarray(Math.max(toHead, chunk.length - this.#tailBytes));
    if (rest.length > 0) this.#tail = Buffer.from(Buffer.concat([this.#tail, rest]).subarray(-this.#tailBytes));
  }

  /** `gap`: the line that says how many bytes were left out. */
  text(gap: (bytes: number) => string = (bytes) => `[… ${bytes} bytes left out …]`): string {
    const cut = this.#bytes - this.#head.length - this.#tail.length;
    if (cut === 0) return Buffer.concat([this.#head, this.#tail]).toString('utf8');
    return `${wholeEnd(this.#head).toString('utf8')}\n${gap(cut)}\n${wholeStart(this.#tail).toString('utf8')}`;
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
const MAX_CONTINUATIONS = 3;

/** Without the rest of a character whose beginning was cut off. */
function wholeStart(bytes: Buffer): Buffer {
  let from = 0;
  while (from < MAX_CONTINUATIONS && isContinuation(bytes[from])) from++;
  return bytes.subarray(from);
}

/** Without the beginning of a character whose rest was cut off. */
function wholeEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 1 - MAX_CONTINUATIONS && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + size > bytes.length ? bytes.subarray(0, start) : bytes;
}
