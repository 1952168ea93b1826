/** The daily digest: what happened since the last one, and what is not over. Pure. */
import type { WallMs } from '../../../base/pure/ids.ts';
import { type DayTime, lastAt, nextAt } from '../../../base/pure/wall-time.ts';
import type { Incident } from '../../rules/incident.ts';
import { someOf } from '../../rules/words.ts';
import { type AlertMessage, clean, type Digest } from './message.ts';

type Facts = Omit<Digest, 'lines'>;

/** What a digest is made of. */
export interface DigestSource {
  readonly crashes: readonly { readonly subject: { readonly name: string } }[];
  readonly incidents: readonly Incident[];
  readonly gaveUp: readonly string[];
}

/** What is remembered of it; it is written together with the message. */
export interface DigestMark {
  /** The time of day it was due at, last. */
  readonly due: WallMs;
  /** Until when the last one tells. */
  readonly until: WallMs;
}

const MAX_NAMED = 20;

/** What is to be done now. `known`: null, there was none yet. */
export function digestDue(
  time: DayTime,
  known: DigestMark | null,
  now: WallMs,
): { readonly mark: DigestMark; readonly since: WallMs | null; readonly waitMs: number } {
  const due = lastAt(time, now);
  const next = nextAt(time, now);
  const waitMs = next - now;
  // The first one tells of the time since it was asked for; a clock that was set back a long way begins anew.
  if (known === null || known.due > next) return { mark: { due, until: now }, since: null, waitMs };
  if (due <= known.due || known.until >= now) return { mark: known, since: null, waitMs };
  return { mark: { due, until: now }, since: known.until, waitMs };
}

export function digestOf({ crashes, incidents, gaveUp }: DigestSource, since: WallMs, until: WallMs): Digest {
  const counts = new Map<string, number>();
  for (const { subject } of crashes) counts.set(subject.name, (counts.get(subject.name) ?? 0) + 1);
  const crashed = [...counts].map(([name, times]) => ({ name: clean(name), crashes: times }));
  const open = incidents.filter(({ state }) => state === 'open');
  const facts: Facts = {
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    crashes: crashes.length,
    crashed: crashed.sort((a, b) => b.crashes - a.crashes || (a.name < b.name ? -1 : 1)).slice(0, MAX_NAMED),
    opened: incidents.filter(({ openedAt }) => openedAt >= since).length,
    resolved: incidents.filter(({ resolvedAt }) => resolvedAt !== null && resolvedAt >= since).length,
    open: open.slice(0, MAX_NAMED).map(({ id, title, openedAt }) => ({
      ...{ incident: id, title: clean(title), since: new Date(openedAt).toISOString() },
    })),
    gave_up: gaveUp.slice(0, MAX_NAMED).map(clean),
  };
  return { ...facts, lines: linesOf(facts) };
}

export function digestMessage(digest: Digest, head: { readonly id: string; readonly project: string }): AlertMessage {
  const { until: at } = digest;
  const text = `[${head.project}] Digest since ${minute(digest.since)}: ${inShort(digest)}`;
  return { schema_version: 1, id: head.id, at, project: head.project, text, alerts: [], digest };
}

const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

const minute = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`;

function inShort({ crashes, crashed, opened, open, gave_up }: Facts): string {
  const parts = [
    crashes === 0
      ? 'no crashes'
      : `${plural(crashes, 'crash', 'crashes')} (${someOf(crashed.map((each) => `${each.name} ${each.crashes}`))})`,
    ...(opened > 0 ? [plural(opened, 'new incident')] : []),
    open.length === 0 ? 'nothing is open' : `${open.length} open`,
    ...(gave_up.length > 0 ? [`no longer restarted: ${someOf(gave_up)}`] : []),
  ];
  return parts.join('; ');
}

const linesOf = (facts: Facts): readonly string[] => [
  inShort(facts),
  ...(facts.resolved > 0 ? [`${plural(facts.resolved, 'incident')} ended`] : []),
  ...facts.open.map(({ incident, title, since }) => `Open since ${minute(since)}: ${title} (incident ${incident})`),
];
