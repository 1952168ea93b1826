/** Cuts the bytes of a log into whole lines with bounded memory, wherever the borders of the chunks lie. */
import { StringDecoder } from 'node:string_decoder';
import { withoutEscapes } from '../../base/pure/escapes.ts';
import { MAX_LINE_BYTES } from './limits.ts';

const NEWLINE = 0x0a;
const NOTHING: Buffer = Buffer.alloc(0);

export class LineCutter {
  /** The beginning of a line whose end has not been read. */
  #begun: Buffer = NOTHING;
  /** What comes next belongs to a line that is not wanted any more. */
  #isSkipping = false;

  /** The lines that are complete now, each ended by one line break, as one text. The chunk may be used again afterwards. */
  push(chunk: Buffer): string {
    let lines = '';
    let at = this.#isSkipping ? this.#skipLine(chunk, 0) : 0;
    while (at < chunk.length) {
      const room = MAX_LINE_BYTES - this.#begun.length;
      const next = chunk.subarray(at, at + room + 1);
      const end = next.lastIndexOf(NEWLINE);
      if (end >= 0) {
        lines += this.#take(next.subarray(0, end + 1)).toString('utf8');
        at += end + 1;
      } else if (next.length > room) {
        lines += firstPart(this.#take(next.subarray(0, room)));
        at = this.#skipLine(chunk, at + room);
      } else {
        this.#begun = Buffer.concat([this.#begun, next]);
        at = chunk.length;
      }
    }
    return plain(lines);
  }

  /** The file ends here, or what follows will not be read: what has no line break is a line too. */
  flush(): string {
    const rest = this.#take(NOTHING);
    this.#isSkipping = false;
    return rest.length > 0 ? plain(firstPart(rest)) : '';
  }

  /** What comes next begins somewhere within a line: that line is left out. */
  skipLine(): void {
    this.#isSkipping = true;
  }

  #take(bytes: Buffer): Buffer {
    if (this.#begun.length === 0) return bytes;
    const whole = Buffer.concat([this.#begun, bytes]);
    this.#begun = NOTHING;
    return whole;
  }

  /** Behind the next line break. */
  #skipLine(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(NEWLINE, from);
    this.#isSkipping = end < 0;
    return end < 0 ? chunk.length : end + 1;
  }
}

/** A decoder that is never ended leaves out the half character at a cut. */
const firstPart = (bytes: Buffer): string => `${new StringDecoder('utf8').write(bytes)}\n`;

/** Colours and the like stand in the middle of what people look for. */
const plain = (lines: string): string =>
  withoutEscapes(lines.includes('\r\n') ? lines.replaceAll('\r\n', '\n') : lines);
