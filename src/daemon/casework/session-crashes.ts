/** The dossier of a session's container that failed: how it ended, and what it wrote last. Taken aside, so that healing waits for nothing. */
import { lastWords } from '../../compose/last-words.ts';
import { explainCrash } from '../../core/crash/explain.ts';
import { type ExitView, exitView } from '../../core/exit.ts';
import type { RunId, WallMs } from '../../core/ids.ts';
import type { Counters } from '../../core/lifecycle/state.ts';
import { redact } from '../../core/redact.ts';
import type { SessionEvent, SessionRecord } from '../../core/sessions/session.ts';
import type { Subject } from '../../core/views.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EngineClient } from '../../ports/engine.ts';
import type { Casework } from '../../ports/incidents.ts';
import type { Log } from '../../ports/log.ts';
import type { Commit, NewCrash } from '../../ports/store.ts';
import { withCase } from './with-case.ts';

export interface SessionCrashParts {
  readonly engine: EngineClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly casework: Pick<Casework, 'crashed' | 'recovered'>;
  commit(commit: Commit): void;
}

/** What became of a session, as it is told: failures are written down, and what is well or gone is no problem any more. */
export function sessionCrashes(
  parts: SessionCrashParts,
): (session: SessionRecord, told: readonly SessionEvent[]) => void {
  return (session, told) => {
    const subject: Subject = { kind: 'session', name: session.id };
    for (const { type, data } of told) {
      if (type === 'session.unhealthy') {
        const at = parts.clock.wallNow();
        record(parts, session, { why: String(data['why']), decision: String(data['decision']), at }).catch(
          (error: unknown) =>
            parts.log.warn('a crash of a session could not be recorded', { session: session.id, error: String(error) }),
        );
      }
      if (type === 'session.ready' || type === 'session.removed') parts.casework.recovered(subject);
    }
  };
}

interface Failure {
  readonly why: string;
  readonly decision: string;
  readonly at: WallMs;
}

async function record(parts: SessionCrashParts, session: SessionRecord, failure: Failure): Promise<void> {
  const tail = redact(await tailOf(parts, session));
  const exit = exitOf(failure.why);
  const explained = explainCrash(tail, exit, { whose: `template ${session.template}` });
  const crash: NewCrash = {
    ...{ subject: { kind: 'session', name: session.id }, at: failure.at, exit, decision: failure.decision },
    run: `${session.id}~${failure.at.toString(36)}` as RunId,
    uptimeMs: Math.max(0, failure.at - session.lease.createdAt),
    rule: 'backoff',
    counters: { ...NO_COUNTERS, failures: session.restarts + 1, total: session.restarts },
    restartsInWindow: session.restarts,
    logTail: tail.split('\n').filter((line) => line !== ''),
    dependencies: [],
    changedSinceGood: null,
    probes: [],
    ...explained,
    rootCause: explained.rootCause ?? failure.why,
  };
  parts.commit(withCase({ crash }, parts.casework));
}

const NO_COUNTERS: Counters = { restarts: [], failures: 0, spawnErrors: 0, total: 0 };

/** Healing says it in words, and by the time we ask, the container may have been started again. */
function exitOf(why: string): ExitView {
  const code = /^exit code (\d{1,3})\b/.exec(why)?.[1];
  if (code !== undefined) return exitView({ kind: 'code', code: Number(code), ambiguous: false });
  return exitView({ kind: 'unknown', why: 'its container was restarted' }, why);
}

async function tailOf({ engine, clock }: SessionCrashParts, { containerId }: SessionRecord): Promise<string> {
  if (containerId === null) return '';
  const signal = AbortSignal.timeout(INSPECT_MS);
  const found = await engine.inspect(containerId, signal).catch(() => null);
  if (found === null || !('state' in found)) return '';
  return lastWords({ engine, clock }, found, signal).catch(() => '');
}

const INSPECT_MS = 5_000;
