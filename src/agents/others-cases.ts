/** What becomes of an agent of others that died, and of entries that were forgotten: the dossier, the respawn, the ticket. */

import { basename } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { exitView } from '../base/pure/exit.ts';
import { shortHash } from '../base/pure/hash.ts';
import { componentOfRun, type RunId, type WallMs } from '../base/pure/ids.ts';
import type { Dossier } from '../crashes/rules/explain.ts';
import { portHolder } from '../drivers/process/port-holder.ts';
import type { Recorder } from '../history/ports.ts';
import type { Incidents } from '../incidents/ports.ts';
import { readTail } from '../logs/log-tail.ts';
import type { CrashTail } from '../logs/rules/tail.ts';
import type { NewCrash, NewEvent } from '../supervision/ports/store.ts';
import { FRESH } from '../supervision/rules/lifecycle/state.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import type { Respawns } from './ports.ts';
import type { Entry } from './rules/others-entry.ts';
import type { Judged } from './rules/others-pass.ts';
import {
  CLEANUP_CAUSE,
  cleanupFingerprint,
  cleanupTitle,
  describeEntry,
  dossierFrom,
  issueOf,
  type LoopOutput,
  runOfEntry,
  typeOf,
} from './rules/others-report.ts';
import type { AgentIssue } from './rules/views.ts';
import type { AgentsSpec, StateFileSpec } from './spec.ts';

export interface OthersCases {
  /** Brings it back if that can be done, and records its crash. `living`: tasks that another entry has. `output`: of its last moments. */
  crashed(
    dead: Judged,
    file: StateFileSpec,
    living: ReadonlySet<string | null>,
    output: LoopOutput | null,
  ): { readonly issue: AgentIssue; readonly action: string | null; readonly bug: number | null };
  /** The run it belonged to was asked to end, and it ended with that: no crash, and nobody wants it back. */
  stopped(entry: Entry, file: StateFileSpec): void;
  /** It ended with exit code 0: its task is done. */
  finished(entry: Entry, file: StateFileSpec): void;
  /** It goes on: whatever was wrong with its task is over. */
  lived(entry: Entry): void;
  /** These entries are gone from the file. */
  forgotten(entries: readonly string[], file: StateFileSpec): { readonly ticket: number | null };
  /** Who gets the tickets of this type. */
  assignedTo(type: string | null): string | null;
}

export interface OthersCasesParts {
  readonly clock: Clock;
  readonly record: Recorder;
  readonly incidentService: Pick<Incidents, 'problem' | 'recovered'>;
  readonly respawns: Respawns;
  spec(): AgentsSpec;
  /** Where the files of a component are; null: there is no such component. */
  cwdOf(component: string): string | null;
}

type Decision = Pick<NewCrash, 'decision' | 'rule'> & { readonly respawned: boolean };

export function othersCases(parts: OthersCasesParts): OthersCases {
  const { clock, record, incidentService, respawns, spec } = parts;
  /** Asked first: should we die before the crash is written, it is found again, and the task has its agent already. */
  const bringBack = ({ entry: { type, task } }: Judged, living: ReadonlySet<string | null>): Decision => {
    if (type === null || task === null) return not(`its entry has no ${type === null ? 'type' : 'task'}`);
    if (living.has(task)) return not('another agent has its task');
    const outcome = respawns.respawn({ type, task });
    if (outcome.kind === 'none') return not(outcome.why);
    return { decision: 'respawned as an agent of ours', rule: 'backoff', respawned: true };
  };
  return {
    crashed: (dead, file, living, output) => {
      const { entry, why } = dead;
      const decided = bringBack(dead, living);
      const found = output === null ? null : dossierOfLoop(dead, output, parts.cwdOf(output.component));
      const crash = crashOf(dead, decided, found, clock.wallNow());
      const { subject } = crash;
      const data = {
        ...{ pid: entry.pid, type: typeOf(entry), task: crash.taskId ?? null },
        source: basename(file.path),
        why,
      };
      const told: NewEvent = { at: crash.at, subject, type: 'agent.crashed', run: crash.run, data };
      const [written] = record({ crash, events: [told] });
      const bug = written?.tickets?.[0]?.number ?? null;
      const action = decided.respawned ? `respawned ${describeEntry(entry)}` : null;
      const done = decided.respawned ? 'respawned' : `none (${decided.decision})`;
      const error = [crash.errorType, crash.errorMessage].filter((part) => part !== null).join(': ');
      return { issue: issueOf('agent_crash', entry, error === '' ? why : error, done, bug), action, bug };
    },
    stopped: (entry, file) => {
      const subject: Subject = { kind: 'agent', name: typeOf(entry) };
      const data = {
        pid: entry.pid,
        task: entry.task,
        source: basename(file.path),
        why: 'what started it was stopped',
      };
      record({ events: [{ at: clock.wallNow(), subject, type: 'agent.stopped', run: null, data }] });
    },
    finished: (entry, file) => {
      const subject: Subject = { kind: 'agent', name: typeOf(entry) };
      const data = { pid: entry.pid, task: entry.task, source: basename(file.path) };
      record({ events: [{ at: clock.wallNow(), subject, type: 'agent.finished', run: null, data }] });
      if (entry.task !== null) incidentService.recovered(subject, entry.task);
    },
    lived: (entry) => {
      if (entry.task !== null) incidentService.recovered({ kind: 'agent', name: typeOf(entry) }, entry.task);
    },
    forgotten: (entries, file) => {
      const name = basename(file.path);
      const subject: Subject = { kind: 'agent', name };
      const filed = incidentService.problem({
        subject,
        fingerprint: cleanupFingerprint(file.path),
        title: cleanupTitle(entries.length, name),
        rootCause: CLEANUP_CAUSE,
        ...{ category: 'cleanup', priority: 'low', assignedTo: null, atOnce: true },
        evidence: [`removed from ${file.path}:`, ...entries],
        reproduction: [
          `Start an agent and write its entry to ${name}.`,
          'Kill it with SIGKILL, and the program that started it as well.',
          'Its entry stays: nobody is left to remove it.',
        ],
        relatedFiles: [file.path],
      });
      const data = { file: file.path, entries };
      record({ events: [{ at: clock.wallNow(), subject, type: 'agents.cleaned', run: null, data }] });
      // They are gone already. If it happens again, the same incident is opened again.
      incidentService.recovered(subject);
      return { ticket: filed.ticket };
    },
    assignedTo: (type) => spec().types.find(({ name }) => name === type)?.assignedTo ?? null,
  };
}

const not = (why: string): Decision => ({ decision: `not respawned: ${why}`, rule: 'observed', respawned: false });

/** Its exit code went to whoever started it, unless we saw it before they did. */
const exitOf = ({ exit, why }: Judged) =>
  exitView(exit ?? { kind: 'unknown', why: `${why}; it is not ours, so nobody saw its exit code` });

function dossierOfLoop(dead: Judged, output: LoopOutput, cwd: string | null): Dossier {
  const whose = `agent ${typeOf(dead.entry)}`;
  return dossierFrom(output, exitOf(dead), { whose, ...(cwd === null ? {} : { cwd }), portHolder });
}

function crashOf(dead: Judged, { decision, rule }: Decision, found: Dossier | null, at: WallMs): NewCrash {
  const { entry } = dead;
  const exit = exitOf(dead);
  const type = typeOf(entry);
  const began = entry.startedAt?.latest ?? at;
  return {
    ...{ subject: { kind: 'agent', name: type }, run: runOfEntry(entry, at) as RunId, at, exit, decision, rule },
    ...{ uptimeMs: Math.max(0, at - began), counters: FRESH, restartsInWindow: 0 },
    ...{ logTail: [], dependencies: [], changedSinceGood: null, probes: [], stack: [], relatedFiles: [] },
    ...{ errorType: null, errorMessage: null, rootCause: null },
    fingerprint: `v1:${shortHash(`agent of others is gone\n${type}`)}`,
    // Ends that say nothing are the same only when they are of the same type.
    ...(found?.errorType === null ? { logTail: found.logTail, rootCause: found.rootCause } : found),
    ...{ agentType: type, pid: entry.pid },
    ...(entry.task === null ? {} : { taskId: entry.task }),
  };
}

// Reads what agents of others wrote: into the log of the component that started them.

/** The logs into which agents of others may write. */
export interface LoopLogs {
  /** The component whose log an agent writes into; `run`: that it belongs to. Null: its output goes elsewhere. */
  writerOf(run: RunId | null): string | null;
  /** The position behind the last byte of its log. */
  end(component: string): number;
  /** What was written behind this position. */
  since(component: string, position: number): CrashTail;
}

export interface LoopLogsParts {
  readonly logsDir: string;
  /** Values of this component's that must never be shown. */
  secretsOf(spec: ComponentSpec): readonly string[];
  logEnd(component: string): number;
  specOf(name: string): ComponentSpec | undefined;
  /** The component that spawns agents; null: none is named. */
  loop(): string | null;
}

export const loopLogs = ({ logsDir, secretsOf, logEnd, specOf, loop }: LoopLogsParts): LoopLogs => ({
  writerOf: (run) => {
    const name = run === null ? loop() : componentOfRun(run);
    return name !== null && specOf(name)?.driver.kind === 'process' ? name : null;
  },
  end: logEnd,
  since: (component, position) => {
    const spec = specOf(component);
    return readTail(logsDir, component, spec ? secretsOf(spec) : [], { since: position });
  },
});
