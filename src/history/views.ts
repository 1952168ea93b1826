/** From what is stored to what is shown, the same for every store. */

import { bugNumber } from '../incidents/tickets/rules/number.ts';
import type { NewCrash } from '../supervision/ports/store.ts';
import { stretchView } from '../supervision/rules/health/stretch.ts';
import type { CrashView, Subject, WhyView } from '../supervision/rules/views.ts';

/** How many crashes a query without a limit gets. */
export const DEFAULT_CRASHES = 100;

/** Limits come from people and programs: never negative, never more than a database takes. */
export const atMost = (limit: number): number => Math.max(0, Math.min(Math.floor(limit) || 0, Number.MAX_SAFE_INTEGER));

/** SQLite would make NULL of a NaN, and refuse the row. */
export const whole = (value: number): number => (Number.isFinite(value) ? Math.round(value) : 0);

const MAX_DATE = 8.64e15;

/** A time out of a damaged row must not make a whole page of history unreadable. */
export function isoTime(at: number): string {
  return new Date(Math.abs(at) <= MAX_DATE ? at : 0).toISOString();
}

export const isOf = (subject: Subject, component: string): boolean =>
  subject.kind === 'component' && subject.name === component;

/** All that is known about one crash. Lists of crashes show the first part of it. */
export function whyView(id: number, crash: NewCrash, ticket: number | null): WhyView {
  return {
    schema_version: 1,
    id,
    subject: crash.subject,
    run_id: crash.run,
    at: isoTime(crash.at),
    uptime_ms: Math.round(crash.uptimeMs),
    exit: crash.exit,
    error_type: crash.errorType,
    error_message: crash.errorMessage,
    root_cause: crash.rootCause,
    fingerprint: crash.fingerprint ?? null,
    agent_type: crash.agentType ?? null,
    task_id: crash.taskId ?? null,
    agent_pid: crash.pid ?? null,
    decision: crash.decision,
    incident: crash.incident ?? null,
    ticket: ticket === null ? null : bugNumber(ticket),
    log_tail: crash.logTail,
    stack: crash.stack ?? [],
    related_files: crash.relatedFiles ?? [],
    earlier_error: crash.earlier ?? null,
    probes: crash.probes.map(stretchView),
    freeze: crash.freeze ?? null,
    dependencies: crash.dependencies,
    changed_since_good: crash.changedSinceGood,
    rule: { name: crash.rule, counters: countersView(crash) },
  };
}

/** The short form, for lists. */
export function crashView(why: WhyView): CrashView {
  const { id, subject, run_id, at, uptime_ms, exit, error_type, error_message, root_cause } = why;
  const { fingerprint, agent_type, task_id, agent_pid, decision, incident, ticket } = why;
  const cause = { exit, error_type, error_message, root_cause, fingerprint, agent_type, task_id, agent_pid };
  return { id, subject, run_id, at, uptime_ms, ...cause, decision, incident, ticket };
}

export function countersView({ counters, restartsInWindow }: NewCrash): WhyView['rule']['counters'] {
  return {
    restarts_in_window: restartsInWindow,
    failures: counters.failures,
    spawn_errors: counters.spawnErrors,
    total: counters.total,
  };
}
