/**
 * Everything on one screen in one answer. The day of a component is read from the history when something happened to it, and cached: a page
 * that stays open for weeks asks every few seconds, and most of the time nothing did.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { MonoMs, WallMs } from '../base/pure/ids.ts';
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
  type Known,
  learned,
  type RunSpan,
  unsettledSince,
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
  readonly known: Known;
  readonly readAt: MonoMs;
  /** The same, by the calendar: from then on there is more to read. */
  readonly readTo: WallMs;
  /** What it came to in this frame. */
  readonly frame: Frame;
  readonly day: History24h;
}

/** What is used changes without an event. */
const FRESH_MS = 60_000;
/** What is older than this is never shown: nobody has asked for a long time. */
const STALE_MS = 5 * FRESH_MS;
/** A component that crashes all the time is not read all the time. */
const LEAST_MS = 5_000;
const MAX_RUNS = 2_000;
/** A day of somebody whose use changes from minute to minute has 1,440. */
const MAX_STRETCHES = 2_000;
/** Reading pauses after so long, so that supervision goes on. */
const SLICE_MS = 8;
/** For what is only not quite fresh any more: of hundreds, a few are read for each answer. */
const SPARE_MS = 8;

export class Overview {
  readonly #parts: OverviewParts;
  readonly #cached = new Map<string, CachedDay>();
  readonly #changed = new Set<string>();

  constructor(parts: OverviewParts) {
    this.#parts = parts;
    parts.subscribe(({ subject, type }) => {
      if (this.#cached.has(subject.name)) this.#changed.add(subject.name);
      // Whoever opened the page is about to ask. To read all of a long day takes longer than a browser takes to start.
      if (type === 'dashboard.opened') this.view().catch(() => {});
    });
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
      components: components.map((view) => rowOf(view, this.#dayIn(frame, view.name, now))),
    };
  }

  /** Once more where what was read turned out to be older than the frame that it was read for. */
  async #readDays(views: readonly ComponentView[], now: WallMs): Promise<Frame> {
    const names = new Set(views.map(({ name }) => name));
    for (const name of this.#cached.keys()) if (!names.has(name)) this.#cached.delete(name);
    for (;;) {
      const frame = frameAt(now, this.#oldest(views, now));
      await this.#readFor(views, frame);
      if (frameAt(now, this.#oldest(views, now)).bucketMs === frame.bucketMs) return frame;
    }
  }

  /** When the first run of the last day began; null: there was none. */
  #oldest(views: readonly ComponentView[], now: WallMs): WallMs | null {
    const known = views.flatMap(
      ({ name }) => this.#cached.get(name)?.known.runs.find(({ to }) => to === null || now - to < DAY_MS)?.from ?? [],
    );
    return known.length === 0 ? null : (known.reduce((least, at) => Math.min(least, at), Infinity) as WallMs);
  }

  async #readFor(views: readonly ComponentView[], frame: Frame): Promise<void> {
    const { clock } = this.#parts;
    const [began, now] = [clock.now(), clock.wallNow()];
    let since = began;
    for (const view of this.#inNeed(views, frame)) {
      if (!this.#isDue(view.name, frame)) {
        if (clock.now() - began >= SPARE_MS) return;
        if (this.#ageMs(view.name) < FRESH_MS) continue; // read meanwhile, for somebody else
      }
      this.#changed.delete(view.name);
      const known = this.#read(view, frame, now);
      const read = { known, readAt: clock.now(), readTo: now };
      this.#cached.set(view.name, { ...read, frame, day: history24h(known, frame, now) });
      if (clock.now() - since < SLICE_MS) continue;
      await nextTurn();
      since = clock.now();
    }
  }

  /** First those that must be read, then those that were not for the longest time. */
  #inNeed(views: readonly ComponentView[], frame: Frame): readonly ComponentView[] {
    const age = ({ name }: ComponentView) => this.#ageMs(name);
    const [due, others] = [[], []] as ComponentView[][];
    for (const view of views)
      if (this.#isDue(view.name, frame)) due!.push(view);
      else if (age(view) >= FRESH_MS) others!.push(view);
    return [...due!, ...others!.sort((one, other) => age(other) - age(one))];
  }

  #ageMs(name: string): number {
    return this.#parts.clock.now() - (this.#cached.get(name)?.readAt ?? -Infinity);
  }

  #isDue(name: string, frame: Frame): boolean {
    if (this.#cached.get(name)?.known.bucketMs !== frame.bucketMs) return true;
    return this.#ageMs(name) >= (this.#changed.has(name) ? LEAST_MS : STALE_MS);
  }

  /** All of it the first time, and then only what is new or may have been written over. */
  #read(view: ComponentView, frame: Frame, now: WallMs): Known {
    const { history, samples } = this.#parts;
    const component = view.name;
    const cached = this.#cached.get(component);
    const before = cached?.known.bucketMs === frame.bucketMs ? cached : undefined;
    const since = before ? unsettledSince(frame.bucketMs, Math.min(before.readTo, now) as WallMs) : frame.from;
    const week = (now - WEEK_MS) as WallMs;
    const ended = (from: WallMs): readonly RunSpan[] =>
      history
        .runs({ component, since: from, limit: MAX_RUNS })
        .toReversed()
        .map(({ begunAt, endedAt, good, planned }) => ({
          ...{ from: begunAt, to: endedAt, isBad: good === false && planned === false },
        }));
    const settled = cached?.known.runs.filter(({ to }) => to !== null && to >= week && to < since) ?? [];
    const runs = [...settled, ...ended(cached ? since : week)];
    if (view.started_at !== null) runs.push({ from: Date.parse(view.started_at) as WallMs, to: null, isBad: false });
    if (runs.length === 0) return learned(null, { runs, failed: [], uses: [] }, frame, since, now);
    const failed = history
      .probes({ component, since, limit: MAX_STRETCHES })
      .flatMap(({ outcome, firstAt, lastAt }) => (outcome === 'fail' ? [{ from: firstAt, to: lastAt }] : []));
    const uses = samples({ component, since, limit: MAX_STRETCHES }).map(
      ({ firstAt, lastAt, cpuPercent, memoryMaxBytes }) => ({
        ...{ from: firstAt, to: lastAt, cpuPercent, memoryBytes: Math.round(memoryMaxBytes) },
      }),
    );
    return learned(before?.known ?? null, { runs, failed, uses }, frame, since, now);
  }

  #dayIn(frame: Frame, name: string, now: WallMs): History24h {
    const cached = this.#cached.get(name)!;
    if (cached.frame.from === frame.from) return cached.day;
    const day = history24h(cached.known, frame, now);
    this.#cached.set(name, { ...cached, frame, day });
    return day;
  }
}

function history24h(known: Known, frame: Frame, now: WallMs): History24h {
  const { timeline, upPercent } = dayOf(known, frame, now);
  const week = upPercentSince(known.runs, (now - WEEK_MS) as WallMs, now);
  return { timeline, up_percent: upPercent, up_percent_week: week, ...curvesOf(known, frame) };
}

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
