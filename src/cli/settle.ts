/** When is an action done? A pure reading of the status before it and the status now. */
import { isCrashing, isUp, notReady, tooYoung, type Watch } from '../supervision/rules/goal.ts';
import type { ComponentView } from '../supervision/rules/views.ts';
import { noteOf } from './print/status.ts';

export type Action = 'up' | 'start' | 'stop' | 'restart';

export type Verdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'gave-up'; readonly reason: string }
  /** It dies again and again. */
  | { readonly kind: 'crashing' }
  /** It cannot go on: what it needs has given up, or crashes. */
  | { readonly kind: 'blocked'; readonly reason: string }
  | { readonly kind: 'pending'; readonly reason: string };

type Views = ReadonlyMap<string, ComponentView>;

/** Looked up by name again and again: a thousand components would make a million comparisons of a list. */
export const byName = (views: readonly ComponentView[]): Views => new Map(views.map((view) => [view.name, view]));

export interface Situation {
  readonly action: Action;
  readonly before: Views;
  readonly now: Views;
  /** What was seen of each so far. */
  readonly watched: ReadonlyMap<string, Watch>;
  /** The daemon has had time to react: what still looks as before is meant to be so. */
  readonly believed: boolean;
}

const DONE: Verdict = { kind: 'done' };

export function judge(name: string, situation: Situation): Verdict {
  const { action, now, believed } = situation;
  const view = now.get(name);
  if (!view) return action === 'stop' ? DONE : { kind: 'pending', reason: `${name} is not there yet` };
  const before = situation.before.get(name);
  if (action === 'stop') return view.state === 'stopped' || (believed && isOver(view)) ? DONE : pending(view);
  const old = before !== undefined && !hasMoved(before, view);
  if (isOver(view) && old && (action === 'restart' || !believed)) return pending(view); // a restart may wait for dependents to end
  if (view.state === 'gave-up') return { kind: 'gave-up', reason: `${name} ${noteOf(view) || 'gave up'}` };
  if (view.state === 'completed') return DONE;
  if (isUp(view) && !(action === 'restart' && old)) return DONE;
  if (isCrashingIn(situation, view)) return { kind: 'crashing' };
  const blocker = blockerOf(view, situation);
  if (blocker !== null) return { kind: 'blocked', reason: `${name} needs ${blocker}` };
  return pending(view, now);
}

const isCrashingIn = ({ watched }: Situation, view: ComponentView): boolean => {
  const watch = watched.get(view.name);
  return watch !== undefined && isCrashing(view, watch);
};

const isOver = ({ state }: ComponentView): boolean => state === 'completed' || state === 'gave-up';

/** Has anything happened to it? A new run, another state, another death. */
const hasMoved = (before: ComponentView, now: ComponentView): boolean =>
  before.state !== now.state || before.run_id !== now.run_id || before.last_exit?.at !== now.last_exit?.at;

function pending(view: ComponentView, all: Views = new Map()): Verdict {
  const stopped = view.waiting_for.filter((name) => {
    const needed = all.get(name);
    return needed?.state === 'stopped' && needed.desired === 'stopped';
  });
  const because = stopped.length === 0 ? '' : ` (not started: ${stopped.join(', ')})`;
  return { kind: 'pending', reason: `${describe(view)}${because}` };
}

/** "api is waiting for temporal", "worker is starting". */
export function describe(view: ComponentView): string {
  const note = noteOf(view);
  if (view.state === 'waiting') return `${view.name} is ${note || 'waiting'}`;
  const ready = tooYoung(view) ?? (view.state === 'running' && !view.ready ? notReady(view) : view.state);
  return `${view.name} is ${ready}${note === '' ? '' : ` (${note})`}`;
}

/** The component that gave up, or crashes, and that this one, directly or not, is waiting for: "api, which gave up". */
function blockerOf(view: ComponentView, situation: Situation, seen: readonly string[] = []): string | null {
  if (view.state !== 'waiting') return null;
  for (const name of view.waiting_for) {
    const needed = situation.now.get(name);
    if (!needed || seen.includes(name)) continue;
    if (needed.state === 'gave-up') return `${name}, which gave up`;
    if (isCrashingIn(situation, needed)) return `${name}, which crashes`;
    const further = blockerOf(needed, situation, [...seen, name]);
    if (further !== null) return further;
  }
  return null;
}
