/** After an action was asked for: waits until it is done, shows the way there, and says what stood in the way. */
import { isGone } from '../api/client/event-reader.ts';
import type { ActionView } from '../api/control.ts';
import { AppError } from '../base/pure/errors.ts';
import { formatDuration } from '../base/pure/format.ts';
import { crashedText, type Watch, watchFrom, watchOn } from '../supervision/rules/goal.ts';
import type { ComponentView, EventView, StatusView } from '../supervision/rules/views.ts';
import type { CliCall } from './call.ts';
import { pause } from './interrupt.ts';
import { sanitise } from './print/sanitise.ts';
import { progressFor } from './progress.ts';
import { type Action, byName, judge, type Situation, type Verdict } from './settle.ts';

export interface Awaited {
  readonly action: Action;
  readonly names: readonly string[];
  /** How things were before the action. */
  readonly before: readonly ComponentView[];
  readonly timeoutMs: number;
}

export interface ActionOutcome {
  readonly status: StatusView;
  /** To be thrown after the status has been printed; null when all is as wanted. */
  readonly problem: AppError | null;
}

/** An answer that still looks exactly as before is believed after this. The daemon reacts within a turn of its loop. */
const BELIEVE_MS = 1_000;
/** Causes are asked for one by one. */
const CAUSES_SHOWN = 10;

export async function awaitAction(call: CliCall, awaited: Awaited): Promise<ActionOutcome> {
  const { action, names, before, timeoutMs } = awaited;
  const progress = progressFor(call, before);
  const asked = new Set(names);
  const known = byName(before);
  const watched = new Map<string, Watch>();
  const look = (view: ComponentView): void => {
    const watch = watched.get(view.name) ?? watchFrom(known.get(view.name));
    watched.set(view.name, watchOn(watch, view));
  };
  const situation = (status: StatusView, elapsedMs: number): Situation => ({
    action,
    before: known,
    now: byName(status.components),
    watched,
    believed: elapsedMs > BELIEVE_MS,
  });
  const hasCrashed = (name: string): boolean => (watched.get(name)?.crashes ?? 0) > 0;
  const tellCrashed = async (status: StatusView, except: ReadonlySet<string> = new Set()) => {
    const crashed =
      action === 'stop' ? [] : status.components.filter(({ name }) => asked.has(name) && hasCrashed(name));
    const texts = await crashTexts(call, crashed, watched);
    for (const [name, text] of texts) if (!except.has(name)) call.note(`${text}; "keepwell why ${name}" tells more`);
    return texts;
  };
  let last: StatusView | null = null;
  try {
    const { status, failed } = await followStatus(call, {
      timeoutMs,
      answer: (status, elapsedMs) => {
        last = status;
        status.components.forEach(look);
        progress.update(status.components.filter(({ name }) => asked.has(name)));
        const present = situation(status, elapsedMs);
        const verdicts = names.map((name) => ({ name, ...judge(name, present) }));
        const failed = verdicts.filter(({ kind }) => kind !== 'done' && kind !== 'pending');
        const isLost = failed.some(({ kind }) => kind !== 'blocked'); // then waiting for the others is in vain
        return isLost || verdicts.every(({ kind }) => kind !== 'pending') ? { status, failed } : undefined;
      },
      pending: (status) => (status ? pendingText(names, situation(status, timeoutMs)) : 'the daemon does not answer'),
    });
    const texts = await tellCrashed(status, new Set(failed.map(({ name }) => name)));
    return { status, problem: failed.length === 0 ? null : problemOf(failed, texts) };
  } catch (error) {
    if (last === null || !(error instanceof AppError) || error.code !== 'WAIT_TIMEOUT') throw error;
    await tellCrashed(last).catch(() => {}); // the daemon may not answer: that is what is told then
    return { status: last, problem: error };
  } finally {
    progress.end();
  }
}

type Failed = { readonly name: string } & Verdict;

function problemOf(failed: readonly Failed[], texts: ReadonlyMap<string, string>): AppError {
  const culprit = failed.find(({ kind }) => kind !== 'blocked') ?? failed[0]!;
  const lines = failed.map((one) => `${'reason' in one ? one.reason : texts.get(one.name)}.`);
  return new AppError(culprit.kind === 'crashing' ? 'COMPONENT_CRASHED' : 'COMPONENT_GAVE_UP', {
    problem: lines.join('\n'),
    name: culprit.name,
    names: failed.map(({ name }) => name).join(', '),
  });
}

/** Each with the cause that is on record, for as many as one reads; the others without. */
async function crashTexts(
  call: CliCall,
  crashed: readonly ComponentView[],
  watched: ReadonlyMap<string, Watch>,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const [index, view] of crashed.entries()) {
    const newest =
      index < CAUSES_SHOWN ? (await call.client.crashes({ component: view.name, limit: 1 })).crashes[0] : undefined;
    texts.set(view.name, sanitise(crashedText(view, watched.get(view.name)!, newest)));
  }
  return texts;
}

function pendingText(names: readonly string[], situation: Situation): string {
  return names
    .map((name) => judge(name, situation))
    .flatMap((verdict) => ('reason' in verdict ? [verdict.reason] : []))
    .join('; ');
}

/** "worker ignored SIGTERM for 10 s and was killed": who did not end when asked to. */
export function killedIn(events: readonly EventView[]): string[] {
  const signals = new Map<string | null, string>();
  const lines: string[] = [];
  for (const { type, run_id, subject, data } of events) {
    if (type === 'component.stopping') signals.set(run_id, String(data['signal']));
    if (type !== 'component.killed') continue;
    const asked = signals.get(run_id) ?? 'the stop signal';
    lines.push(`${subject.name} ignored ${asked} for ${formatDuration(Number(data['grace_ms']))} and was killed`);
  }
  return lines;
}

// Polls the status until a question is answered, the time is up or Ctrl-C comes.

const POLL_MS = 150;
/** Each look costs the daemon what it costs us, at a moment when it has other things to do: it gets several times as long without one. */
const REST_RATIO = 4;
/** A daemon that crashed is back in two seconds; this long without one means it is not coming back. */
const GAP_MS = 15_000;

export interface Question<T> {
  readonly timeoutMs: number;
  /** Undefined: not yet. `elapsedMs` counts from the first look. */
  answer(status: StatusView, elapsedMs: number): T | undefined;
  /** What is still missing, for the message when the time is up. */
  pending(status: StatusView | null): string;
}

/** Throws WAIT_TIMEOUT, or the connection's own error when the daemon stays away. */
export async function followStatus<T>(call: CliCall, question: Question<T>): Promise<T> {
  const { signal } = call;
  const began = performance.now();
  let last: StatusView | null = null;
  let lastSeen = began;
  for (;;) {
    const asked = performance.now();
    const status: StatusView | null = await statusOrGap(call, performance.now() - lastSeen);
    if (status) {
      last = status;
      lastSeen = performance.now();
      const answer = question.answer(status, lastSeen - began);
      if (answer !== undefined) return answer;
    }
    if (performance.now() - began >= question.timeoutMs) {
      const after = formatDuration(question.timeoutMs);
      throw new AppError('WAIT_TIMEOUT', { after, pending: question.pending(last) });
    }
    await pause(Math.max(POLL_MS, (performance.now() - asked) * REST_RATIO), signal);
  }
}

/** Null while the daemon is away for a moment: its guardian brings it back. */
async function statusOrGap(call: CliCall, goneMs: number): Promise<StatusView | null> {
  try {
    return await call.client.status();
  } catch (error) {
    if (isGone(error) && goneMs < GAP_MS) return null;
    throw error;
  }
}

// Whether what was asked for will still hold for a daemon that begins anew.

/** What was acknowledged must stay: what cannot be kept is an error, though it was done. Daemons of older versions do not say. */
export function requireRemembered(answer: Partial<Pick<ActionView, 'not_remembered'>> | null): void {
  const problem = answer?.not_remembered ?? null;
  if (problem !== null) throw new AppError('NOT_REMEMBERED', { problem });
}
