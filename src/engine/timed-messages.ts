/** Takes the time off the beginning of each message, and leaves out what was told before. */

/** "2026-01-02T03:04:05.678901234Z " is 31 bytes; with another time zone some more. */
const MAX_TIME_BYTES = 40;
const SPACE = 0x20;

export interface TimedMessages {
  /** Throws when a message does not begin with a time. */
  push(bytes: Buffer, isFirst: boolean): void;
  /** Tells what was pushed. Undefined: all of it was taken at once. */
  told(): Promise<void> | undefined;
}

interface Options {
  readonly after: string | null;
  readonly onPiece: (piece: Buffer, at: string) => void | Promise<void>;
}

export function timedMessages({ after, onPiece }: Options): TimedMessages {
  let ready: { readonly bytes: Buffer; readonly at: string }[] = [];
  /** The beginning of a message whose time is not complete yet; null: it is. */
  let head: Buffer | null = null;
  let at = '';
  let isWanted = false;

  function begin(bytes: Buffer): Buffer {
    const end = bytes.indexOf(SPACE);
    if (end === -1 && bytes.length < MAX_TIME_BYTES) {
      head = Buffer.from(bytes);
      return Buffer.alloc(0);
    }
    const text = bytes.subarray(0, Math.max(0, end)).toString('latin1');
    if (end > MAX_TIME_BYTES || Number.isNaN(Date.parse(text))) throw new Error('a message without its time');
    head = null;
    isWanted = after === null || isLater(text, after);
    // stdout and stderr are read by two: their times may be out of order by a little.
    if (at === '' || isLater(text, at)) at = text;
    return bytes.subarray(end + 1);
  }

  return {
    push: (bytes, isFirst) => {
      const rest = isFirst ? begin(bytes) : head === null ? bytes : begin(Buffer.concat([head, bytes]));
      if (rest.length > 0 && isWanted) ready.push({ bytes: rest, at });
    },
    told: () => {
      const pieces = ready;
      ready = [];
      let busy: Promise<void> | undefined;
      for (const piece of pieces) {
        const tell = () => onPiece(piece.bytes, piece.at);
        busy = busy ? busy.then(tell) : (tell() ?? undefined);
      }
      return busy;
    },
  };
}

/** To the nanosecond, which a Date cannot hold. Times of one Engine are in one time zone; it may leave out zeros at the end. */
function isLater(one: string, other: string): boolean {
  const [a, b] = [split(one), split(other)];
  return a.seconds === b.seconds ? a.fraction > b.fraction : a.seconds > b.seconds;
}

function split(time: string): { readonly seconds: number; readonly fraction: string } {
  const [, fraction = ''] = /\.(\d+)/.exec(time) ?? [];
  return { seconds: Math.floor(Date.parse(time) / 1_000), fraction: fraction.padEnd(9, '0') };
}
