/** Points in time as people write them after --since and --until: how long ago, a day, a time of day, or all of it. */
import { durationHint, parseDuration } from '../../config/duration.ts';
import { usage } from '../call.ts';
import { localTime } from '../print/json.ts';

/** A day, with a time or without; as `-t` prints it, or as ISO 8601 has it. */
const DAY = /^(\d{4})-(\d\d?)-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(Z|[+-]\d\d:?\d\d)?)?$/;
const TIME_OF_DAY = /^(\d\d?):(\d\d)(?::(\d\d))?$/;

const EXAMPLES =
  'Write how long ago (10m, 1h30m, 2d), a time of today (03:04), a day (2026-01-02), or both (2026-01-02T03:04).';

/** Milliseconds since 1970; throws USAGE. Local time, unless a zone is given. `option`: for the words of the complaint. */
export function parseWhen(text: string, option: string, nowMs: number): number {
  const written = text.trim();
  const agoMs = parseDuration(written);
  if (agoMs !== null) return nowMs - agoMs;
  const ms = parseDay(written) ?? parseTimeOfDay(written, nowMs);
  if (ms !== null) return ms;
  const hint = /^\d+(\.\d+)? ?[a-z]*$/i.test(written) ? durationHint(written) : EXAMPLES;
  throw usage(`"${text}" after ${option} is not a time. ${hint}`);
}

function parseDay(text: string): number | null {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', zone] = DAY.exec(text) ?? [];
  if (year === undefined) return null;
  const parts = [Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second)] as const;
  const ms = Number(fraction.padEnd(3, '0'));
  // As if it were in no zone at all: a part that is too large shows by moving the others.
  const plain = new Date(Date.UTC(parts[0], parts[1] - 1, ...parts.slice(2), ms));
  if (plain.getUTCMonth() !== parts[1] - 1 || plain.getUTCDate() !== parts[2] || !isTime(parts[3], parts[4], parts[5]))
    return null;
  if (zone !== undefined) return plain.getTime() - zoneMs(zone);
  return new Date(parts[0], parts[1] - 1, parts[2], parts[3], parts[4], parts[5], ms).getTime();
}

function parseTimeOfDay(text: string, nowMs: number): number | null {
  const [, hour, minute, second = '0'] = TIME_OF_DAY.exec(text) ?? [];
  if (hour === undefined || !isTime(Number(hour), Number(minute), Number(second))) return null;
  return new Date(nowMs).setHours(Number(hour), Number(minute), Number(second), 0);
}

const isTime = (hour: number, minute: number, second: number): boolean => hour < 24 && minute < 60 && second < 60;

function zoneMs(zone: string): number {
  if (zone === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

export interface Span {
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
}

/** Throws USAGE when nothing can lie in it. */
export function parseSpan(since: string | undefined, until: string | undefined, nowMs: number): Span {
  const sinceMs = since === undefined ? undefined : parseWhen(since, '--since', nowMs);
  const untilMs = until === undefined ? undefined : parseWhen(until, '--until', nowMs);
  const local = (ms: number): string => localTime(new Date(ms).toISOString());
  if (sinceMs !== undefined && sinceMs > nowMs) {
    const yesterday = TIME_OF_DAY.test(since!.trim()) ? ` For yesterday write "${local(sinceMs - DAY_MS)}".` : '';
    throw usage(`--since ${since} means ${local(sinceMs)}, which is still to come.${yesterday}`);
  }
  if (sinceMs !== undefined && untilMs !== undefined && untilMs < sinceMs)
    throw usage(`--until (${local(untilMs)}) is before --since (${local(sinceMs)}), so there is nothing between them.`);
  return { sinceMs, untilMs };
}

const DAY_MS = 86_400_000;
