/** The beginning and the end of an output of any length. */
export interface KeptOutput {
  push(bytes: Buffer): void;
  /** How many bytes there were in all. */
  readonly size: number;
  /** With a line in the middle that says how much was left out. */
  text(): string;
}

export function keptOutput(maxBytes: number): KeptOutput {
  const half = Math.floor(maxBytes / 2);
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let size = 0;
  return {
    push: (bytes) => {
      const room = half - head.length;
      if (room > 0) head = Buffer.concat([head, bytes.subarray(0, room)]);
      if (bytes.length > room) tail = Buffer.concat([tail, bytes.subarray(Math.max(0, room))]).subarray(-half);
      size += bytes.length;
    },
    get size() {
      return size;
    },
    text: () => {
      const left = size - head.length - tail.length;
      const gap = left > 0 ? `\n… ${left} bytes left out …\n` : '';
      // Bytes that belong to one character may be on both sides where nothing was left out.
      if (gap === '') return Buffer.concat([head, tail]).toString('utf8');
      return `${head.toString('utf8')}${gap}${tail.toString('utf8')}`;
    },
  };
}
