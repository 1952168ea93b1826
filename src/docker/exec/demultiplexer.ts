/**
 * Takes the stream of a command apart: frames of eight bytes (which of its outputs, three zeros, the length) and that many bytes.
 * Pieces arrive cut anywhere, a header included; each byte is looked at once, however small the frames are.
 */
export interface Demultiplexer {
  /** Throws when it is no such stream. */
  push(piece: Buffer): void;
  /** Between two frames, where alone a stream may end. */
  readonly isWhole: boolean;
}

const HEADER_BYTES = 8;
/** 0 stdin, 1 stdout, 2 stderr, 3 what the Engine itself has to say. */
const LAST_OUTPUT = 3;

/** `isFirst`: a frame begins with these bytes. `output`: which one it is of. */
export function demultiplexer(onOutput: (bytes: Buffer, isFirst: boolean, output: number) => void): Demultiplexer {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let left = 0;
  let isFirst = false;
  return {
    push(piece) {
      for (let at = 0; at < piece.length; ) {
        if (left > 0) {
          const bytes = piece.subarray(at, at + left);
          onOutput(bytes, isFirst, header[0]!);
          isFirst = false;
          at += bytes.length;
          left -= bytes.length;
          continue;
        }
        const copied = piece.copy(header, headerBytes, at);
        at += copied;
        headerBytes += copied;
        if (headerBytes < HEADER_BYTES) return;
        if (header[0]! > LAST_OUTPUT || header.readUIntBE(1, 3) !== 0) throw new Error('no stream of frames');
        left = header.readUInt32BE(4);
        headerBytes = 0;
        isFirst = true;
      }
    },
    get isWhole() {
      return left === 0 && headerBytes === 0;
    },
  };
}
