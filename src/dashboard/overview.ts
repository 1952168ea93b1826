/**
 * Everything on one screen in one answer. The day of a component is read from the history when something happened to it, and cached: a page
 * that stays open for weeks asks every few seconds, and most of the time nothing did.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { WallMs } from '../base/pure/ids.ts';
import type { History } from '../history/ports.ts';
import type { Incident } from '../incidents/rules/incident.ts';
import { incidentsView } from '../incidents/rules/view.ts';
import type { SampleQuery } from '../supervision/ports/store.ts';
import type { SampleStretch } from '../supervision/rules/usage/stretch.ts';
import type { ComponentView, DaemonView, EventView } from '../supervision/rules/views.ts';
import { attention, lastingNote } from './rules/attention.ts';
import {
  curvesOf,
  DAY_MS,
  dayOf,
  type Frame,
  frameAt,
  type RunSpan,
  type Span,
  upPercentSince,
  WEEK_MS,
} from './rules/timeline.ts';
import type { OverviewRow, OverviewView } from './rules/views.ts';

export interface OverviewParts {
  readonly clock: Pick<Clock, 'wallNow' | 'now'>;
  readonly history: Pick<History, 'runs' | 'probes'>;
  project(): string;
  daemon(): DaemonView;
  components(): readonly ComponentView[];
  /** Those that are open. */
  incidents(): readonly Incident[];
  samples(query: SampleQuery): readonly SampleStretch[];
  subscribe(listener: (event: EventView) => void): void;
}

type History24h = Pick<OverviewRow, 'timeline' | 'up_percent' | 'up_percent_week' | 'cpu' | 'memory'>;

interface CachedDay {
  readonly day: History24h;
  readonly frame: Frame;
  readonly readAt: number;
  /** When the first run of the last day began; null: there was none. */
  readonly oldest: WallMs | null;
}

/** What is used changes without an event. */
const FRESH_MS = 60_000;
/** A component that crashes all the time is not read all the time. */
const LEAST_MS = 5_000;
const MAX_RUNS = 2_000;
const MAX_STRETCHES = 1_000;
/** Reading pauses after so long, so that supervision goes on. */
const SLICE_MS = 8;

export class Overview {
  readonly #parts: OverviewParts;
  readonly #cached = new Map<string, CachedDay>();
  readonly #changed = new Set<string>();

  constructor(parts: OverviewParts) {
    this.#parts = parts;
    parts.subscribe(({ subject }) => void (this.#cached.has(subject.name) && this.#changed.add(subject.name)));
  }

  async view(): Promise<OverviewView> {
    const { clock } = this.#parts;
    const now = clock.wallNow();
    const components = this.#parts.components();
    const frame = await this.#readDays(components, now);
    const daemon = this.#parts.daemon();
    const { version, started_at, pid } = daemon;
    const { incidents } = incidentsView(this.#parts.incidents());
    return {
      schema_version: 1,
      project: this.#parts.project(),
      daemon: { version, started_at, pid },
      timeline: { from: new Date(frame.from).toISOString(), bucket_ms: frame.bucketMs, buckets: frame.buckets },
      attention: attention({ daemon, components }, incidents, now),
      components: components.map((view) => rowOf(view, this.#cached.get(view.name)!.day)),
    };
  }

  /** Once more where what was read turned out to be older than the frame that it was read for. */
  async #readDays(views: readonly ComponentView[], now: WallMs): Promise<Frame> {
    const names = new Set(views.map(({ name }) => name));
    for (const name of this.#cached.keys()) if (!names.has(name)) this.#cached.delete(name);
    for (;;) {
      const frame = frameAt(now, this.#oldest(views));
      await this.#readFor(views, frame);
      if (frameAt(now, this.#oldest(views)).from === frame.from) return frame;
    }
  }

  #oldest(views: readonly ComponentView[]): WallMs | null {
    const known = views.flatMap(({ name }) => this.#cached.get(name)?.oldest ?? []);
    return known.length === 0 ? null : (known.reduce((least, at) => Math.min(least, at), Infinity) as WallMs);
  }

  async #readFor(views: readonly ComponentView[], frame: Frame): Promise<void> {
    const { clock } = this.#parts;
    let since = clock.now();
    for (const view of views) {
      if (!this.#isDue(view.name, frame)) continue;
      this.#changed.delete(view.name);
      this.#cached.set(view.name, { ...this.#read(view, frame), frame, readAt: clock.now() });
      if (clock.now() - since < SLICE_MS) continue;
      await nextTurn();
      since = clock.now();
    }
  }

  #isDue(name: string, frame: Frame): boolean {
    const cached = this.#cached.get(name);
    if (cached === undefined || cached.frame.from !== frame.from) return true;
    const ageMs = this.#parts.clock.now() - cached.readAt;
    return ageMs >= (this.#changed.has(name) ? LEAST_MS : FRESH_MS);
  }

  #read(view: ComponentView, frame: Frame): Pick<CachedDay, 'day' | 'oldest'> {
    const { history, samples, clock } = this.#parts;
    const component = view.name;
    const { from: since } = frame;
    const now = clock.wallNow();
    const week = (now - WEEK_MS) as WallMs;
    const ended = history.runs({ component, since: week, limit: MAX_RUNS }).toReversed();
    const runs: RunSpan[] = ended.map(({ begunAt, endedAt, good, planned }) => ({
      ...{ from: begunAt, to: endedAt, isBad: good === false && planned === false },
    }));
    if (view.started_at !== null) runs.push({ from: Date.parse(view.started_at) as WallMs, to: null, isBad: false });
    if (runs.length === 0) return { day: nothingKnown(frame), oldest: null };
    const failed: Span[] = history
      .probes({ component, since, limit: MAX_STRETCHES })
      .flatMap(({ outcome, firstAt, lastAt }) => (outcome === 'fail' ? [{ from: firstAt, to: lastAt }] : []));
    const { timeline, upPercent } = dayOf(inFrame(runs, frame), failed, frame, now);
    const uses = samples({ component, since, limit: MAX_STRETCHES }).map(
      ({ firstAt, lastAt, cpuPercent, memoryMaxBytes }) => ({
        ...{ from: firstAt, to: lastAt, cpuPercent, memoryBytes: Math.round(memoryMaxBytes) },
      }),
    );
    const first = runs.find(({ to }) => to === null || now - to < DAY_MS)?.from ?? null;
    return {
      day: {
        timeline,
        up_percent: upPercent,
        up_percent_week: upPercentSince(runs, week, now),
        ...curvesOf(uses, frame),
      },
      oldest: first,
    };
  }
}

/** What has not run for a week has used nothing, and nobody asked it anything. */
const nothingKnown = ({ buckets }: Frame): History24h => ({
  ...{ timeline: '-'.repeat(buckets), up_percent: null, up_percent_week: null, cpu: [], memory: [] },
});

/** With the one before: what it led to may reach into the frame. */
const inFrame = (runs: readonly RunSpan[], { from }: Frame): readonly RunSpan[] => {
  const first = runs.findIndex(({ to }) => to === null || to >= from);
  return runs.slice(Math.max(0, (first === -1 ? runs.length : first) - 1));
};

function rowOf(view: ComponentView, day: History24h): OverviewRow {
  const { name, kind, state, condition, health, ready, desired, pid, started_at, restarts, restart_limit } = view;
  const { next_attempt_at, depends_on, waiting_for, note, resources } = view;
  return {
    ...{ name, kind, state, condition, health, ready, desired, pid, started_at, restarts },
    restart_limit: restart_limit ?? null,
    ...{ next_attempt_at: next_attempt_at && toTheSecond(next_attempt_at), depends_on, waiting_for },
    note: lastingNote(note),
    cpu_percent: resources?.cpu_percent ?? null,
    memory_bytes: resources?.memory_bytes ?? null,
    ...day,
  };
}

/** It is worked out anew each time, from two clocks: a millisecond more or less is no news. */
const toTheSecond = (iso: string): string => new Date(Math.round(Date.parse(iso) / 1_000) * 1_000).toISOString();
