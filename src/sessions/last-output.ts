/** What the container of a session wrote before it failed. It may have been started again since, and is read all the same. */
import { type CrashTail, cutTail, MAX_TAIL_BYTES, NO_TAIL, tailOf } from '../logs/rules/tail.ts';
import type { EngineClient } from '../docker/ports.ts';
import type { Failure } from '../docker/healing/ports.ts';

/** The Engine is asked for no more lines than a dossier can use. */
const LAST_LINES = 1_000;
/** Its removal waits for this. */
const WITHIN_MS = 5_000;
/** The Engine may note a start after the first words, and the end before the last ones. */
const SLACK_MS = 500;

/** Empty when there is nothing, or it cannot be had. Never rejects. `known`: values never to be shown. */
export async function sessionTail(
  engine: Pick<EngineClient, 'logs'>,
  container: string,
  { startedAt, uptimeMs, hasEnded }: Failure,
  known: readonly string[],
): Promise<CrashTail> {
  const began = Date.parse(startedAt);
  const after = Number.isFinite(began) ? new Date(began - SLACK_MS).toISOString() : null;
  const until = hasEnded && after !== null ? began + uptimeMs + SLACK_MS : Number.POSITIVE_INFINITY;
  const pieces = new LastPieces();
  const onPiece = (piece: Buffer, at: string) => {
    if (!(Date.parse(at) > until)) pieces.add(piece);
  };
  const signal = AbortSignal.timeout(WITHIN_MS);
  await engine.logs(container, { after, follow: false, last: LAST_LINES, onPiece }, signal).catch(() => {}); // what came until then counts
  const { text, isCut } = pieces;
  if (text === '') return NO_TAIL;
  return isCut ? cutTail(text, known) : tailOf(text, known, { isCut: false });
}

class LastPieces {
  #pieces: Buffer[] = [];
  #bytes = 0;
  isCut = false;

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    while (this.#bytes > MAX_TAIL_BYTES && this.#pieces.length > 1) {
      this.#bytes -= this.#pieces.shift()!.length;
      this.isCut = true;
    }
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString('utf8');
  }
}
