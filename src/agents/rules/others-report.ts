/** The agents of others in words: as list, as issues of a report, as a crash, and as the ticket about entries that were forgotten. */

import { type ExitView, isClean } from '../../base/pure/exit.ts';
import { shortHash } from '../../base/pure/hash.ts';
import { type ComponentName, type RunId, runId, type WallMs } from '../../base/pure/ids.ts';
import { redact } from '../../base/pure/redact.ts';
import type { CrashContext } from '../../crashes/rules/crash.ts';
import { type Dossier, dossierOf } from '../../crashes/rules/explain.ts';
import type { CrashTail } from '../../logs/rules/tail.ts';
import type { Entry } from './others-entry.ts';
import type { Judged, LeftZombie } from './others-pass.ts';
import type { AgentIssue, AgentIssueType, AgentView } from './views.ts';

const MAX_SHOWN_CHARS = 120;
const UNKNOWN_TYPE = 'unknown';

/** Somebody else wrote it: one short line without secrets. */
export const shown = (text: string): string => {
  const line = redact(text, [])
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line.length > MAX_SHOWN_CHARS ? `${line.slice(0, MAX_SHOWN_CHARS)}…` : line;
};

export const typeOf = ({ type }: Entry): string => shown(type ?? UNKNOWN_TYPE);

/** "2194 (architect, SPEC-111)" */
export const describeEntry = (entry: Entry): string => {
  const task = entry.task === null ? '' : `, ${shown(entry.task)}`;
  return `${entry.pid} (${typeOf(entry)}${task})`;
};

interface ViewContext {
  readonly wall: WallMs;
  readonly maxRespawns: number;
  assignedTo(type: string | null): string | null;
}

export function agentView({ entry, state, why, orphan }: Judged, context: ViewContext): AgentView {
  const startedAt = entry.startedAt?.latest ?? null;
  return {
    ...{ agent_type: typeOf(entry), task_id: entry.task === null ? '' : shown(entry.task) },
    ...{ state: state === 'alive' ? 'running' : 'unknown', source: 'state-file', pid: entry.pid, run_id: null },
    ...{ condition: null, timeout_at: null, heartbeat: null },
    started_at: startedAt === null ? null : iso(startedAt),
    uptime_ms: startedAt === null ? null : Math.max(0, context.wall - startedAt),
    ...{ respawns: 0, max_respawns: context.maxRespawns, next_attempt_at: null, last_exit: null, error: null },
    ...{ assigned_to: context.assignedTo(entry.type), log: null },
    note: why === '' ? (orphan ? ORPHAN : null) : why,
  };
}

const ORPHAN = 'the process that started it is gone';
/** Dates that JavaScript cannot write come from files that anybody writes. */
const MAX_TIME_MS = 8.64e15;
const iso = (at: WallMs): string | null => (Math.abs(at) <= MAX_TIME_MS ? new Date(at).toISOString() : null);

export const issueOf = (
  type: AgentIssueType,
  entry: Entry | null,
  error: string,
  action: string,
  bug: number | null = null,
): AgentIssue => ({
  type,
  agent_pid: entry?.pid ?? null,
  agent_type: entry === null ? null : typeOf(entry),
  task_id: entry === null || entry.task === null ? null : shown(entry.task),
  error,
  action_taken: action,
  bug_reported: bug !== null,
  bug_number: bug,
  at: null,
});

/** What is worth knowing although nothing is done about it. */
export function openIssues(judged: readonly Judged[]): readonly AgentIssue[] {
  return judged.flatMap(({ entry, state, why, zombie, orphan }) => [
    ...(zombie !== null ? [issueOf('zombie_process', entry, why, 'none')] : []),
    ...(orphan ? [issueOf('orphan_process', entry, `${ORPHAN}, so nobody waits for it`, 'none')] : []),
    ...(state === 'unknown' && zombie === null ? [issueOf('state_file', entry, why, 'none')] : []),
  ]);
}

/** Its entry is gone; the process is there as long as its parent does not take note of its end. */
export const leftZombieIssue = ({ entry }: LeftZombie): AgentIssue =>
  issueOf('zombie_process', entry, `process ${entry.pid} has ended, and its parent does not reap it`, 'none');

/** For the ticket: "2194 (architect, SPEC-111), finished with exit code 0, a zombie" */
export function describeForgotten({ entry, exit, zombie }: Judged): string {
  const finished = exit !== null && isClean(exit) ? [', finished with exit code 0'] : [];
  return [describeEntry(entry), ...finished, ...(zombie === null ? [] : [', a zombie'])].join('');
}

/** Always the same for the same entry: a crash that is found twice counts once. */
export function runOfEntry(entry: Entry, wall: WallMs): RunId {
  const readable = `others-${typeOf(entry)}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const name = readable.slice(0, MAX_RUN_NAME).replace(/-+$/, '') as ComponentName;
  return runId(name, entry.startedAt?.earliest ?? wall, Number.parseInt(entry.id.slice(0, 6), 16) / 2 ** 24);
}
const MAX_RUN_NAME = 48;

/** One for each file: entries that are forgotten again and again are one problem. */
export const cleanupFingerprint = (path: string): string => `v1:${shortHash(`dead entries\n${path}`)}`;

/** Its owner and whoever else has to do with it is not known: the file is what it is about. */
export const cleanupTitle = (count: number, file: string): string =>
  `${count} dead agent ${count === 1 ? 'entry' : 'entries'} in ${file}`;

export const CLEANUP_CAUSE =
  'whoever started these agents did not remove their entries when they ended: it was killed, or it does not wait for its children';

// What a report says about the state file itself: what cannot be read, what was removed, and what could not be.

export const countDead = (entries: number): string => `${entries} dead ${entries === 1 ? 'entry' : 'entries'}`;

const named = (entries: readonly Entry[]): string => entries.map(describeEntry).join(', ');
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** `why` goes on after the name of the file: "is no JSON document". */
export const notUnderstood = (path: string, why: string): AgentIssue =>
  issueOf('state_file', null, `${nameOf(path)} ${why}; nothing is done`, 'none');

export const wereForgotten = (stale: readonly Entry[], ticket: number | null): AgentIssue =>
  issueOf('dead_entries', null, `${countDead(stale.length)}: ${named(stale)}`, 'cleaned', ticket);

export function cameBack(path: string, kept: readonly Judged[]): AgentIssue {
  const who = named(kept.map(({ entry }) => entry));
  const why = `whoever writes ${nameOf(path)} wrote entries again that had been removed because they are dead: ${who}`;
  return issueOf('dead_entries', null, why, 'none');
}

export function notCleaned(path: string, stale: readonly Entry[], because: string): AgentIssue {
  const who = stale.length === 0 ? '' : `: ${named(stale)}`;
  return issueOf(
    'dead_entries',
    null,
    `${nameOf(path)} has dead entries and was not cleaned, because ${because}${who}`,
    'none',
  );
}

// What an agent of others said before it died. It inherited the output of whoever started it, so its last words stand in that log,
// with lines of others before and behind them.

export interface LoopOutput {
  /** Whose log it is. */
  readonly component: string;
  /** What was written into it from when the agent was last seen alive until it was first seen dead. */
  readonly tail: CrashTail;
  /** More than one agent of this log died meanwhile: an error is theirs only if there is no other. */
  readonly several: boolean;
}

/** Lines of others that may follow the last words of an agent within the second in which it died. */
const MAX_CUT_LINES = 100;

/** Without an error in it, the dossier says what the exit alone says. */
export function dossierFrom({ component, tail, several }: LoopOutput, exit: ExitView, context: CrashContext): Dossier {
  const { text } = tail;
  const logTail = tail.lines.length === 0 ? [] : [`in the log of ${component}, when it died:`, ...tail.lines];
  const found: Dossier[] = [];
  for (let end = text.length, cuts = 0; end > 0 && cuts <= MAX_CUT_LINES; cuts += 1) {
    const explained = dossierOf({ text: text.slice(0, end), lines: [] }, exit, context);
    if (explained.errorType !== null) found.push(explained);
    end = text.lastIndexOf('\n', Math.min(end, beginOf(explained, text.slice(0, end))) - 2) + 1;
  }
  const [last] = found;
  const isCertain = !several || new Set(found.map(errorOf)).size === 1;
  const nothing = dossierOf({ text: '', lines: [] }, exit, context);
  return { ...(last && isCertain ? last : nothing), logTail };
}

/** Where the error was printed: half of a stack would look like another error ("raise ValueError(…)"). Infinity: it has none. */
function beginOf({ stack: [first], errorType }: Dossier, text: string): number {
  const at = errorType === null || first === undefined ? -1 : text.lastIndexOf(first);
  return at < 0 ? Number.POSITIVE_INFINITY : text.lastIndexOf('\n', at) + 2;
}

const errorOf = ({ errorType, errorMessage }: Dossier): string => `${errorType}\n${errorMessage}`;
