/**
 * Lines of a container that are not in its component's log. Docker keeps only so much of what a container writes: what was not read when
 * it began to throw away is gone, and it says nothing about that.
 */
import type { LogRotation } from '../../docker/ports.ts';

interface Span {
  /** The Engine's times of the last line before and of the first line after what is missing. */
  readonly from: string;
  readonly to: string;
}

export type Loss =
  /** Certain when the oldest that Docker still has is newer than the last that was told. */
  | ({ readonly kind: 'thrown-away' } & Span)
  /** Docker has it, but did not tell it when it was asked: found when what came after it is in the log already. */
  | { readonly kind: 'passed-over'; readonly bytes: number; readonly from: string | null; readonly to: string };

export interface Pace {
  /** After so much that was followed, a pause of a container is looked at: a file may have been passed over in it. */
  readonly checkBytes: number;
  /** So much is not followed without being compared. */
  readonly maxBytes: number;
  /** Who writes no more than that while the rest is read can be followed. */
  readonly calmBytes: number;
}

/** Of a copy that is not known. */
const FILE_BYTES = 20 * 2 ** 20;
/** Each question costs the Engine as much, however little there is to read. */
const MIN_BYTES = 64 * 2 ** 10;

export function paceOf(rotation: LogRotation | null): Pace {
  const part = (of: number) => Math.max(MIN_BYTES, Math.floor((rotation?.fileBytes ?? FILE_BYTES) / of));
  return { checkBytes: part(16), maxBytes: part(4), calmBytes: part(8) };
}

/** No container fills a file of Docker's sooner than at a gigabyte a second: where it went on sooner, nothing is missing. */
const MAX_BYTES_PER_MS = 2 ** 20;

export const isGap = ({ from, to }: Span, rotation: LogRotation | null): boolean =>
  Date.parse(to) - Date.parse(from) >= (rotation?.fileBytes ?? FILE_BYTES) / MAX_BYTES_PER_MS;

export function lossLine(loss: Loss): string {
  if (loss.kind === 'thrown-away')
    return `[keepwell] lines are missing here: Docker threw away what was written from ${loss.from} to ${loss.to} before it was read\n`;
  const since = loss.from === null ? 'until' : `from ${loss.from} to`;
  return `[keepwell] lines are missing above: Docker did not tell ${loss.bytes} bytes of what was written ${since} ${loss.to}\n`;
}
