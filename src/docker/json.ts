/** The JSON of the Engine. */
import { fieldsOf, parseJson } from '../base/pure/json.ts';

export { type Fields, fieldsOf, parseJson } from '../base/pure/json.ts';

/** What the Engine says about a request that it refused; empty when it says nothing we understand. */
export function parseMessage(text: string): string {
  const message = fieldsOf(parseJson(text))?.['message'];
  return typeof message === 'string' ? message.trim() : '';
}

/** Empty when it is something else. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Only those entries that are text. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(fieldsOf(value) ?? {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

// Takes a stream of JSON lines apart. Pieces arrive cut anywhere, also within a character.

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
