/** Which crashes a question is about. The statements in sqlite/crashes.ts follow the same rules. */

import type { NewCrash } from '../supervision/ports/store.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { CrashQuery, WhyQuery } from './ports.ts';

export interface Whose {
  readonly subject: string | null;
  readonly kind: Subject['kind'] | null;
}

/** Components and agents are two ways to name a subject of a certain kind. */
export function whoseCrashes({ component, agent, subject, kind }: CrashQuery): Whose {
  if (component !== undefined) return { subject: component, kind: 'component' };
  if (agent !== undefined) return { subject: agent, kind: 'agent' };
  return { subject: subject ?? null, kind: kind ?? null };
}

export const whoseWhy = (which: Exclude<WhyQuery, { readonly id: number }>): Whose => whoseCrashes(which);

const isOf = ({ kind, name }: Subject, whose: Whose): boolean =>
  (whose.subject === null || whose.subject === name) && (whose.kind === null || whose.kind === kind);

export function isAskedFor(crash: NewCrash, query: CrashQuery): boolean {
  const { since, task, type, incident } = query;
  return (
    isOf(crash.subject, whoseCrashes(query)) &&
    (since === undefined || crash.at >= since) &&
    (task === undefined || crash.taskId === task) &&
    (type === undefined || crash.errorType === type) &&
    (incident === undefined || crash.incident === incident)
  );
}

export const isTheOne = (id: number, subject: Subject, which: WhyQuery): boolean =>
  'id' in which ? id === which.id : isOf(subject, whoseWhy(which));
