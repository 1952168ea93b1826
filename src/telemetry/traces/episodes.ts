/**
 * The open episodes of all components. They are kept nowhere but in the history: a daemon that comes after another one reads the
 * newest events again and goes on where that one was. What has been told is marked there too, so that it is not told twice.
 */

import { type Attributes, ROOT_CONTEXT, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { Store } from '../../history/ports.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import { type EndedEpisode, type Episode, type Facts, nextTurn, settled } from './episode.ts';

/** Events that are read again when a daemon begins. */
const READ_AGAIN = 5_000;
/** What stays ready for so long has recovered. */
const SETTLE_MS = 10_000;

export type EpisodeHistory = Pick<Store, 'events' | 'lastSeq' | 'run' | 'meta' | 'setMeta'>;

interface Open {
  readonly episode: Episode;
  readonly timer: NodeJS.Timeout | null;
}

export class Episodes {
  readonly #history: EpisodeHistory;
  readonly #tell: (ended: EndedEpisode) => void;
  readonly #settleMs: number;
  #open = new Map<string, Open>();

  constructor(history: EpisodeHistory, tell: (ended: EndedEpisode) => void, settleMs = SETTLE_MS) {
    this.#history = history;
    this.#tell = tell;
    this.#settleMs = settleMs;
    this.#goOn();
  }

  readonly told = (event: EventView): void => {
    if (event.subject.kind !== 'component') return;
    const { name } = event.subject;
    const before = this.#open.get(name);
    if (!before && !OPENERS.has(event.type)) return;
    const { episode, ended } = this.#turn(before?.episode ?? null, event);
    if (ended) this.#end(ended);
    this.#put(name, episode);
  };

  /** What is ready has recovered, as far as anybody can say now; the rest is left to the next daemon. */
  close(): void {
    for (const { episode, timer } of this.#open.values()) {
      if (timer) clearTimeout(timer);
      if (episode.ready) this.#end(settled(episode));
    }
    this.#open.clear();
  }

  #goOn(): void {
    const episodes = new Map<string, Episode>();
    const afterSeq = Math.max(0, this.#history.lastSeq() - READ_AGAIN);
    for (const event of this.#history.events({ afterSeq, limit: READ_AGAIN })) {
      if (event.subject.kind !== 'component') continue;
      const { name } = event.subject;
      const { episode } = this.#turn(episodes.get(name) ?? null, event);
      if (episode) episodes.set(name, episode);
      else episodes.delete(name);
    }
    for (const [name, episode] of episodes) {
      const isTold = episode.ready !== null && episode.ready.seq <= Number(this.#history.meta(markOf(name)) ?? 0);
      if (!isTold) this.#put(name, episode);
    }
  }

  #turn(episode: Episode | null, event: EventView) {
    const endedAt = (run: string) => this.#history.run(run as never)?.endedAt ?? null;
    return nextTurn(episode, event, { endedAt, settleMs: this.#settleMs });
  }

  #put(name: string, episode: Episode | null): void {
    const old = this.#open.get(name);
    if (old?.episode === episode) return;
    if (old?.timer) clearTimeout(old.timer);
    this.#open.delete(name);
    if (episode === null) return;
    // Of an earlier daemon's, too, the whole time anew: this one has to look first whether the component is still there.
    const timer = episode.ready ? setTimeout(() => this.#settle(name), this.#settleMs).unref() : null;
    this.#open.set(name, { episode, timer });
  }

  #settle(name: string): void {
    const open = this.#open.get(name);
    if (!open) return;
    this.#open.delete(name);
    this.#end(settled(open.episode));
  }

  #end(ended: EndedEpisode): void {
    // What ended otherwise is told from its last event; only this kind ends without one.
    if (ended.ready) this.#history.setMeta(markOf(ended.component), String(ended.ready.seq));
    this.#tell(ended);
  }
}

const markOf = (component: string): string => `telemetry.told:${component}`;

/** All others say nothing about a component without an open episode. */
const OPENERS: ReadonlySet<string> = new Set([
  'component.exited',
  'component.unhealthy',
  'component.frozen',
  'component.over-soft-memory',
  'component.leftovers',
  'component.starting',
]);

// An ended episode as a trace: one root span, and one child for each phase of it.

const ROOT = 'keepwell.restart';

export function traceEpisode(tracer: Tracer, ended: EndedEpisode): void {
  const { component, from, to, cause, phases, outcome, restarts, omitted, rule, decision } = ended;
  const name = { 'component.name': component };
  const root = tracer.startSpan(
    ROOT,
    {
      startTime: from,
      attributes: {
        ...name,
        'episode.cause': cause,
        'episode.outcome': outcome,
        'episode.restarts': restarts,
        'run.ids': runsOf(ended),
        ...(rule === null ? {} : { 'decision.rule': rule }),
        ...(decision === null ? {} : { 'decision.text': decision }),
        ...(omitted === 0 ? {} : { 'episode.omitted': omitted }),
      },
    },
    ROOT_CONTEXT,
  );
  const within = trace.setSpan(ROOT_CONTEXT, root);
  for (const { kind, from: startTime, to: end, facts, failure } of phases) {
    const attributes = { ...name, ...attributesOf(facts) };
    const span = tracer.startSpan(`${ROOT}.${kind}`, { startTime, attributes }, within);
    if (failure !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    span.end(end ?? to);
  }
  if (outcome === 'gave-up') root.setStatus({ code: SpanStatusCode.ERROR, message: decision ?? 'gave up' });
  root.end(to);
}

function runsOf({ phases }: EndedEpisode): string[] {
  const runs = phases.flatMap(({ facts }) => (typeof facts['run.id'] === 'string' ? [facts['run.id']] : []));
  return [...new Set(runs)];
}

const attributesOf = (facts: Facts): Attributes =>
  Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === 'object' ? [...value] : value]),
  );
