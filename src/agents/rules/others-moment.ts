/** When something was, as somebody else wrote it down. */
import type { WallMs } from '../../base/pure/ids.ts';

/** Without a time zone nobody can tell whether UTC or the local time was meant: it was one of both. */
export interface Moment {
  readonly earliest: WallMs;
  readonly latest: WallMs;
}

/** Numbers below this are seconds since 1970: as milliseconds they would all lie in its first years. */
const MAX_SECONDS = 1e11;
const MS_PER_SECOND = 1_000;
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

export function momentOf(value: unknown): Moment | null {
  if (typeof value === 'number') return at(value < MAX_SECONDS ? value * MS_PER_SECOND : value);
  if (typeof value !== 'string') return null;
  if (/^\d{9,13}(?:\.\d{1,9})?$/.test(value)) return momentOf(Number(value));
  const [, day, time, fraction = '0', zone] = ISO.exec(value.trim()) ?? [];
  if (day === undefined) return null;
  const text = `${day}T${time!.length === 5 ? `${time}:00` : time}.${fraction.padEnd(3, '0').slice(0, 3)}`;
  if (zone !== undefined) return at(Date.parse(`${text}${zoneOf(zone)}`));
  const [utc, local] = [Date.parse(`${text}Z`), Date.parse(text)];
  return Number.isFinite(utc) && Number.isFinite(local)
    ? { earliest: Math.min(utc, local) as WallMs, latest: Math.max(utc, local) as WallMs }
    : null;
}

/** +02 and +0200 are +02:00. */
const zoneOf = (zone: string): string =>
  zone.length === 1 ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '').padEnd(2, '0')}`;

const at = (ms: number): Moment | null =>
  Number.isFinite(ms) && ms > 0 ? { earliest: ms as WallMs, latest: ms as WallMs } : null;
