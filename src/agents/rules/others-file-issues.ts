/** What a report says about the state file itself: what cannot be read, what was removed, and what could not be. */
import type { AgentIssue } from './views.ts';
import type { Entry } from './others-entry.ts';
import type { Judged } from './others-pass.ts';
import { describeEntry, issueOf } from './others-report.ts';

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
