/** The dossier of a session's container that failed: how it ended, what it wrote last, what was decided. Taken aside: healing waits for nothing. */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ExitView } from '../base/pure/exit.ts';
import type { RunId, WallMs } from '../base/pure/ids.ts';
import { redact } from '../base/pure/redact.ts';
import { dossierOf } from '../crashes/rules/explain.ts';
import type { Failure } from '../docker/healing/ports.ts';
import type { EngineClient } from '../docker/ports.ts';
import type { Recorder } from '../history/ports.ts';
import type { Incidents } from '../incidents/ports.ts';
import { type CrashTail, cutTail, MAX_TAIL_BYTES, NO_TAIL, tailOf } from '../logs/rules/tail.ts';
import type { NewCrash } from '../supervision/ports/store.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { SessionEvent, SessionRecord } from './spec.ts';

export interface SessionCrashParts {
  readonly engine: Pick<EngineClient, 'logs'>;
  readonly clock: Pick<Clock, 'wallNow'>;
  readonly log: Log;
  readonly incidentService: Pick<Incidents, 'recovered'>;
  /** Values that containers of this template are given and nobody should see. */
  secrets(template: string): readonly string[];
  readonly record: Recorder;
}

export interface SessionCases {
  /** What became of a session, after it was written: what is well or gone is no problem any more. */
  told(session: SessionRecord, events: readonly SessionEvent[]): void;
  /** Resolves when its dossier is written. Never rejects. */
  failed(session: SessionRecord, failure: Failure): Promise<void>;
}

const subjectOf = ({ id }: SessionRecord): Subject => ({ kind: 'session', name: id });

export function sessionCases(parts: SessionCrashParts): SessionCases {
  return {
    told: (session, events) => {
      const isOver = events.some(({ type }) => type === 'session.ready' || type === 'session.removed');
      if (isOver) parts.incidentService.recovered(subjectOf(session));
    },
    failed: async (session, failure) => {
      const at = parts.clock.wallNow();
      try {
        const crash = await crashOf(parts, session, failure, at);
        parts.record({ crash });
      } catch (error) {
        parts.log.warn('a crash of a session could not be recorded', { session: session.id, error: String(error) });
      }
    },
  };
}

async function crashOf(
  { engine, secrets }: SessionCrashParts,
  session: SessionRecord,
  failure: Failure,
  at: WallMs,
): Promise<NewCrash> {
  const { uptimeMs, decision, rule, counters } = failure;
  const known = secrets(session.template);
  const { containerId } = session;
  const exit = clean(failure.exit, known);
  const tail = containerId === null ? NO_TAIL : await sessionTail(engine, containerId, failure, known);
  return {
    ...{ subject: subjectOf(session), run: runOf(session, failure, at), at, uptimeMs, exit, decision, rule, counters },
    restartsInWindow: counters.restarts.length,
    ...{ dependencies: [], changedSinceGood: null, probes: [] },
    ...dossierOf(tail, exit, { whose: `template ${session.template}` }),
  };
}

/** Of an end that is found again by a daemon after the one that wrote it down, the same. */
const runOf = ({ id }: SessionRecord, { startedAt, hasEnded }: Failure, at: WallMs): RunId =>
  `${id}~${(hasEnded ? Date.parse(startedAt) || at : at).toString(36)}` as RunId;

/** Health checks and the Engine quote what containers say. */
const clean = (exit: ExitView, known: readonly string[]): ExitView => {
  const hidden = (text: string | null) => text && redact(text, known, { end: true });
  return { ...exit, unhealthy: hidden(exit.unhealthy), spawn_error: hidden(exit.spawn_error) };
};

// What the container of a session wrote before it failed. It may have been started again since, and is read all the same.

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
