/** Takes a stream of JSON lines apart. Pieces arrive cut anywhere, also within a character. */

/** An event with the longest labels is some dozens of KiB; more without a line break is no stream of lines. */
const MAX_LINE_BYTES = 2 ** 20;
const LINE_BREAK = 0x0a;

export interface Lines {
  /** Throws when it is no such stream, and what `onLine` throws. */
  push(piece: Buffer): void;
  /** What stands at the end without a line break is a line, too. */
  end(): void;
}

export function lines(onLine: (line: string) => void): Lines {
  let begun: Buffer[] = [];
  let bytes = 0;

  function end(): void {
    const line = Buffer.concat(begun).toString('utf8').trim();
    begun = [];
    bytes = 0;
    if (line !== '') onLine(line);
  }

  return {
    push: (piece) => {
      for (let from = 0; from < piece.length; ) {
        const to = piece.indexOf(LINE_BREAK, from);
        const part = piece.subarray(from, to === -1 ? piece.length : to);
        bytes += part.length;
        if (bytes > MAX_LINE_BYTES) throw new Error(`a line is longer than ${MAX_LINE_BYTES} bytes`);
        begun.push(part);
        if (to === -1) return;
        end();
        from = to + 1;
      }
    },
    end,
  };
}
