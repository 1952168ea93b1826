/** What one step of an agent writes into the history: its record, its events, the begin or the end of a run, the crash with its case. */
import type { AgentRecord, AgentType } from './spec.ts';
import type { AgentEnd, AgentEvent, AgentStep } from './rules/step.ts';
import { exitView } from '../base/pure/exit.ts';
import type { MonoMs, WallMs } from '../base/pure/ids.ts';
import { FRESH } from '../supervision/rules/lifecycle/state.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { Commit, NewCrash, NewEvent } from '../supervision/ports/store.ts';
import type { KeepingParts } from './parts.ts';

export interface StepFacts {
  readonly before: AgentRecord;
  readonly event: AgentEvent | null;
  readonly step: AgentStep;
  readonly type: AgentType | null;
  readonly at: WallMs;
  wall(mono: MonoMs): WallMs;
}

export interface StepCommit {
  /** With what the crash said. */
  readonly record: AgentRecord;
  readonly commit: Commit;
}

export const subjectOf = ({ type }: Pick<AgentRecord, 'type'>): Subject => ({ kind: 'agent', name: type });

export function stepCommit(facts: StepFacts, parts: KeepingParts): StepCommit {
  const { event, step, type, at } = facts;
  const { end } = step;
  const events = eventsOf(facts);
  const found = end?.crash ? crashOf(facts, end, parts) : null;
  const record = found === null ? step.record : { ...step.record, error: errorOf(found) };
  const started = step.effects.find((effect) => effect.kind === 'start');
  const base = {
    agents: [record],
    ...(started && type
      ? { runBegun: { run: started.run, component: record.name, at, ...parts.begun(record, type) } }
      : {}),
    ...(event?.kind === 'started' ? { runPid: { run: event.run, pid: event.pid } } : {}),
    ...(end ? { runEnded: endedOf(facts, end) } : {}),
  };
  if (found === null) return { record, commit: { ...base, events } };
  const { crash, also } = parts.casework.crashed(found);
  const { events: more, ...cases } = also;
  return { record, commit: { ...base, ...cases, crash, events: [...events, ...more] } };
}

function eventsOf({ step, before, at }: StepFacts): readonly NewEvent[] {
  const subject = subjectOf(before);
  const run = 'run' in step.record.state ? step.record.state.run : (step.end?.run ?? null);
  return step.effects.flatMap((effect) =>
    effect.kind === 'tell'
      ? [{ at, subject, type: effect.type, run, data: { task: before.task, ...effect.data } }]
      : [],
  );
}

function endedOf({ before, wall }: StepFacts, end: AgentEnd): NonNullable<Commit['runEnded']> {
  const { run, uptimeMs, planned, decision, rule, cause } = end;
  const common = { run, component: before.name, at: wall(end.at), uptimeMs, exit: exitView(cause) };
  // The last good run of everything with a name is kept for ever, and tasks are without end.
  return { ...common, planned, good: false, decision, rule };
}

function crashOf({ before, type, wall }: StepFacts, end: AgentEnd, parts: KeepingParts): NewCrash {
  const { run, uptimeMs, decision, rule, cause } = end;
  const exit = exitView(cause);
  const at = wall(end.at);
  const failures = before.respawns.length + 1;
  return {
    subject: subjectOf(before),
    ...{ run, at, uptimeMs, exit, decision, rule },
    counters: { ...FRESH, failures, total: before.respawns.length },
    restartsInWindow: before.respawns.length,
    ...parts.evidence(before, type, exit, at),
    dependencies: [],
    probes: [],
    agentType: before.type,
    taskId: before.task,
    ...(before.pid === null ? {} : { pid: before.pid }),
  };
}

/** "ImportError: cannot import name …", or what is known instead. */
const errorOf = ({ errorType, errorMessage, rootCause }: NewCrash): string | null =>
  errorType !== null && errorMessage !== null
    ? `${errorType}: ${errorMessage}`
    : (errorMessage ?? errorType ?? rootCause);
