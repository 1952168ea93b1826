/** The dossier of a session's container that failed: how it ended, what it wrote last, what was decided. Taken aside: healing waits for nothing. */
import { dossierOf } from '../crashes/rules/dossier.ts';
import { NO_TAIL } from '../logs/rules/tail.ts';
import type { ExitView } from '../base/pure/exit.ts';
import type { RunId, WallMs } from '../base/pure/ids.ts';
import { redact } from '../base/pure/redact.ts';
import type { SessionEvent, SessionRecord } from './spec.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { Clock } from '../base/clock.ts';
import type { EngineClient } from '../docker/ports.ts';
import type { Failure } from '../docker/healing/ports.ts';
import type { Casework } from '../incidents/ports.ts';
import type { Log } from '../base/log.ts';
import type { Commit, NewCrash } from '../supervision/ports/store.ts';
import { sessionTail } from './last-output.ts';
import { withCase } from '../incidents/with-case.ts';

export interface SessionCrashParts {
  readonly engine: Pick<EngineClient, 'logs'>;
  readonly clock: Pick<Clock, 'wallNow'>;
  readonly log: Log;
  readonly casework: Pick<Casework, 'crashed' | 'recovered'>;
  /** Values that containers of this template are given and nobody should see. */
  secrets(template: string): readonly string[];
  commit(commit: Commit): void;
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
      if (isOver) parts.casework.recovered(subjectOf(session));
    },
    failed: async (session, failure) => {
      const at = parts.clock.wallNow();
      try {
        const crash = await crashOf(parts, session, failure, at);
        parts.commit(withCase({ crash }, parts.casework));
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
