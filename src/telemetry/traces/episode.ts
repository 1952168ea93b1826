/**
 * A restart episode, folded from the events of one component: from the death (or the failed probe) until it is ready again and
 * stays so, or is given up. Pure. However many restarts it takes, it is one episode.
 */
import type { EventView } from '../../supervision/rules/views.ts';

export type PhaseKind = 'exit' | 'backoff' | 'wait' | 'start' | 'ready';
export type Facts = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A stretch of an episode. Times are epoch milliseconds. */
export interface Phase {
  readonly kind: PhaseKind;
  readonly from: number;
  /** Null: it goes on. */
  readonly to: number | null;
  readonly facts: Facts;
  /** Why it did not come to a good end. */
  readonly failure: string | null;
}

export interface Episode {
  readonly component: string;
  readonly from: number;
  /** What began it: "exit code 7", "liveness http :8080/healthz failed 3 times: HTTP 503". */
  readonly cause: string;
  readonly phases: readonly Phase[];
  /** Phases that were left out to keep it within bounds. */
  readonly omitted: number;
  readonly restarts: number;
  /** Ready since then, and the event that said so; it is over when that lasts. */
  readonly ready: { readonly at: number; readonly seq: number } | null;
}

export interface EndedEpisode extends Episode {
  readonly to: number;
  readonly outcome: 'recovered' | 'gave-up' | 'completed' | 'stopped';
  readonly rule: string | null;
  readonly decision: string | null;
}

export interface Turn {
  readonly episode: Episode | null;
  readonly ended: EndedEpisode | null;
}

export interface Circumstances {
  /** When the run really ended, if that is known: a death may be seen late. */
  endedAt(run: string): number | null;
  /** Ready for this long, it has recovered; what happens later is another episode. */
  readonly settleMs: number;
}

/** Of an episode without end the first and the last of them are kept. */
export const MAX_PHASES = 400;

export function nextTurn(on: Episode | null, event: EventView, circumstances: Circumstances): Turn {
  const at = Date.parse(event.at);
  const { data, seq, run_id: run } = event;
  switch (event.type) {
    case 'component.frozen':
    case 'component.unhealthy':
    case 'component.over-soft-memory':
      if (data['restarts'] === false) return { episode: on, ended: null };
      return failing(on, event, at, text(data['reason']) ?? 'unhealthy', circumstances);
    case 'component.leftovers':
      return failing(on, event, at, text(data['exit']) ?? 'ended', circumstances);
    case 'component.thawed':
    case 'component.healthy':
      return { episode: on && wellAfterAll(on, { at, seq }), ended: null };
    case 'component.exited':
      return exited(on, event, at, circumstances);
    case 'component.backing-off':
      return begins(on, at, 'backoff', { 'backoff.ms': Number(data['in_ms'] ?? 0) });
    case 'component.waiting':
      return begins(on, at, 'wait', { 'wait.for': list(data['for']) });
    case 'component.starting':
      return starting(on, event, at);
    case 'component.started':
      return begins(on, at, 'ready', { ...runFact(run), ...pidFact(data['pid']) });
    case 'component.ready':
      return { episode: on && (on.ready ? on : { ...closed(on, at, null), ready: { at, seq } }), ended: null };
    case 'component.stopping':
      // By hand, after it had recovered: that is not part of the story.
      return on?.ready ? over(on, on.ready.at, 'recovered') : { episode: on, ended: null };
    case 'component.gave-up':
      return on ? over(on, at, 'gave-up', data) : NOTHING;
    case 'component.completed':
      return on ? over(on, at, 'completed') : NOTHING;
    case 'component.stopped':
      return on ? over(on, on.ready?.at ?? at, on.ready ? 'recovered' : 'stopped') : NOTHING;
    default:
      return { episode: on, ended: null };
  }
}

/** It has been ready for long enough. */
export const settled = (episode: Episode): EndedEpisode =>
  over(episode, episode.ready?.at ?? episode.from, 'recovered').ended!;

const NOTHING: Turn = { episode: null, ended: null };

/** Something is wrong with a run that is still there, in part at least. */
function failing(on: Episode | null, event: EventView, at: number, cause: string, { settleMs }: Circumstances): Turn {
  const { old, ended } = unlessSettled(on, at, settleMs);
  if (old?.phases.at(-1)?.kind === 'exit' && isOpen(old)) return { episode: old, ended }; // its probe failed before
  const base = old ?? begun(event, at, cause);
  return { episode: added({ ...closed(base, at, cause), ready: null }, at, 'exit', runFact(event.run_id)), ended };
}

/** A probe that had failed passes again, or a heart beats again, and nothing was ended for it. */
function wellAfterAll(on: Episode, ready: NonNullable<Episode['ready']>): Episode | null {
  if (on.phases.at(-1)?.kind !== 'exit' || !isOpen(on)) return on;
  const phases = on.phases.slice(0, -1);
  return phases.length === 0 ? null : { ...on, phases, ready };
}

function exited(on: Episode | null, event: EventView, at: number, { endedAt, settleMs }: Circumstances): Turn {
  const { data, run_id: run } = event;
  const rule = text(data['rule']) ?? 'unknown';
  const cause = text(data['exit']) ?? 'ended';
  const died = Math.min(at, (run === null ? null : endedAt(run)) ?? at);
  const { old, ended } = unlessSettled(on, died, settleMs);
  if (old === null && (rule === 'planned-stop' || rule === 'clean-exit')) return { episode: null, ended };
  const facts: Facts = {
    ...runFact(run),
    'exit.text': cause,
    ...(typeof data['code'] === 'number' ? { 'exit.code': data['code'] } : {}),
    ...(typeof data['signal'] === 'string' ? { 'exit.signal': data['signal'] } : {}),
    'exit.crash': data['crash'] === true,
    'run.uptime_ms': Number(data['uptime_ms'] ?? 0),
    'decision.rule': rule,
    'decision.text': text(data['decision']) ?? '',
  };
  const failure = data['crash'] === true ? cause : null;
  const base = old ?? begun(event, died, cause);
  const isFailing = base.phases.at(-1)?.kind === 'exit' && isOpen(base);
  const from = isFailing ? base : added(closed(base, died, cause), died, 'exit', {});
  return { episode: { ...closed(from, at, failure, facts), ready: null }, ended };
}

function starting(on: Episode | null, event: EventView, at: number): Turn {
  const attempt = text(event.data['attempt']) ?? 'first';
  const base = on ?? (attempt === 'quiet' ? begun(event, at, 'quiet retry after giving up') : null);
  if (base === null) return NOTHING;
  const restarts = base.restarts + 1;
  const facts = { ...runFact(event.run_id), 'run.attempt': restarts, 'run.begun': attempt };
  return { episode: { ...added(closed(base, at, null), at, 'start', facts), restarts, ready: null }, ended: null };
}

/** What lasted long enough is a story of its own. */
function unlessSettled(on: Episode | null, at: number, settleMs: number) {
  const isOver = on !== null && on.ready !== null && at - on.ready.at >= settleMs;
  return { old: isOver ? null : on, ended: isOver ? settled(on) : null };
}

const begun = ({ subject }: EventView, from: number, cause: string): Episode => ({
  ...{ component: subject.name, from, cause },
  ...{ phases: [], omitted: 0, restarts: 0, ready: null },
});

function begins(on: Episode | null, at: number, kind: PhaseKind, facts: Facts): Turn {
  return { episode: on && added(closed(on, at, null), at, kind, facts), ended: null };
}

function over(on: Episode, at: number, outcome: EndedEpisode['outcome'], data: EventView['data'] = {}): Turn {
  const to = Math.max(on.from, at);
  const rule = text(data['rule']);
  const decision = text(data['decision']);
  return { episode: null, ended: { ...closed(on, to, null), to, outcome, rule, decision } };
}

const isOpen = ({ phases }: Episode): boolean => phases.at(-1)?.to === null;

/** The last phase ends. Clocks can go back; a phase cannot. */
function closed(on: Episode, at: number, failure: string | null, facts: Facts = {}): Episode {
  const last = on.phases.at(-1);
  if (last === undefined || last.to !== null) return on;
  const done = { ...last, to: Math.max(last.from, at), failure, facts: { ...last.facts, ...facts } };
  return { ...on, phases: [...on.phases.slice(0, -1), done] };
}

function added(on: Episode, from: number, kind: PhaseKind, facts: Facts): Episode {
  const phases = [...on.phases, { kind, from, to: null, facts, failure: null }];
  if (phases.length <= MAX_PHASES) return { ...on, phases };
  return { ...on, phases: phases.toSpliced(MAX_PHASES / 2, 1), omitted: on.omitted + 1 };
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
const runFact = (run: string | null): Facts => (run === null ? {} : { 'run.id': run });
const pidFact = (pid: unknown): Facts => (typeof pid === 'number' ? { 'process.pid': pid } : {});
