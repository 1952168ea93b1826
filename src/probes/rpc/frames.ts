/** A message on its way: whether it is compressed, its length, and its bytes, in as many pieces as the network likes. */

const HEAD_BYTES = 5;

export function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** What is wrong with the answer, for people. */
type Problem = string;

/** Takes the pieces of the one message that an answer may have. */
export class MessageReader {
  readonly #maxBytes: number;
  /** Joined once, at the end: thousands of tiny pieces must not be copied again and again. */
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #head: Buffer = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What is wrong is told as soon as it can be known. */
  add(piece: Buffer): Problem | null {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#head.length < HEAD_BYTES) this.#head = Buffer.concat([this.#head, piece.subarray(0, HEAD_BYTES)]);
    if (this.#bytes < HEAD_BYTES) return null;
    const compression = this.#head[0]!;
    if (compression === 1) return 'the answer is compressed, which was not asked for';
    if (compression !== 0) return 'not a gRPC answer';
    if (this.#length > this.#maxBytes) return `the answer is longer than ${this.#maxBytes} bytes`;
    return this.#bytes > HEAD_BYTES + this.#length ? 'the answer has more than one message' : null;
  }

  /** When no more will come. Null: there was none. */
  end(): { readonly message: Buffer | null } | Problem {
    if (this.#bytes === 0) return { message: null };
    const isWhole = this.#bytes >= HEAD_BYTES && this.#bytes === HEAD_BYTES + this.#length;
    return isWhole ? { message: Buffer.concat(this.#pieces).subarray(HEAD_BYTES) } : 'the answer was cut off';
  }

  get #length(): number {
    return this.#head.readUInt32BE(1);
  }
}
