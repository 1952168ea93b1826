/** Branded names, ids and times: a component name is not a run id, monotonic milliseconds are not epoch milliseconds. */
import { AppError } from './errors.ts';

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type ComponentName = Brand<string, 'ComponentName'>;
export type RunId = Brand<string, 'RunId'>;

/** Milliseconds since boot (CLOCK_MONOTONIC), so a value written by one daemon can be read by the next one of the same boot. */
export type MonoMs = Brand<number, 'MonoMs'>;
/** Epoch milliseconds: for records and people only. It can jump. */
export type WallMs = Brand<number, 'WallMs'>;
/** Identifies one boot of the machine. Monotonic times of different boots must never be compared. */
export type BootId = Brand<string, 'BootId'>;

export const NAME_PATTERN = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** Component names become file names and container labels, so nothing that could climb out of a directory gets in. */
export function componentName(raw: string): ComponentName {
  if (!NAME_PATTERN.test(raw) || raw.includes('..')) throw new AppError('COMPONENT_NAME_INVALID', { name: raw });
  return raw as ComponentName;
}

export const RUN_ID_PATTERN = /^[a-z0-9][a-z0-9._-]{0,62}~[0-9a-z]{9}[0-9a-f]{6}$/;

/**
 * A run id says whose run it is, sorts by time and cannot be guessed twice: `api~` + wall time in base 36 + 24 random bits.
 * The component name is in it so that a run directory can be understood even when the store is lost.
 */
export function runId(component: ComponentName, at: WallMs, random: number): RunId {
  const time = Math.max(0, Math.floor(at)).toString(36).padStart(9, '0').slice(-9);
  const salt = Math.floor(random * 2 ** 24)
    .toString(16)
    .padStart(6, '0');
  return `${component}~${time}${salt}` as RunId;
}

/** The component a run id belongs to, or null when the text is not a run id. */
export function componentOfRun(text: string): ComponentName | null {
  return RUN_ID_PATTERN.test(text) ? (text.slice(0, text.lastIndexOf('~')) as ComponentName) : null;
}

export const after = (start: MonoMs, ms: number): MonoMs => (start + ms) as MonoMs;

/** The next moment that is a multiple of `ms`, at least half of `ms` away: timers fire a little early. */
export const alignedAfter = (now: MonoMs, ms: number): MonoMs => (Math.ceil(now / ms + 0.5) * ms) as MonoMs;
