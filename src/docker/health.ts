/** What an inspection says about a container's health check: its results so far and its times. */

import { redact } from '../base/pure/redact.ts';
import type { DockerHealth, HealthCheckTimes } from '../supervision/rules/container-health.ts';
import { type Fields, fieldsOf, listOf, textOf, textsOf } from './json.ts';

/** The Engine keeps 4 KiB of each check, and nobody reads that much in a reason. */
const MAX_OUTPUT_CHARS = 400;
const NS_PER_MS = 1e6;
/** What the Engine takes where a health check says 0 or nothing. */
const DEFAULTS: HealthCheckTimes = { intervalMs: 30_000, timeoutMs: 30_000, startPeriodMs: 0, retries: 3 };

export type HealthWord = DockerHealth['status'];

export function healthWord(text: string): HealthWord | null {
  return text === 'starting' || text === 'healthy' || text === 'unhealthy' ? text : null;
}

/**
 * Null: there is no health check. The Engine then says "none", or nothing at all. What the check printed goes into reasons, events
 * and crashes of many kinds, so secrets are taken out of it here, before anybody has it. `known`: values that it must not show.
 */
export function readHealth(health: Fields | null, known: readonly string[]): DockerHealth | null {
  const status = healthWord(textOf(health?.['Status']));
  if (health === null || status === null) return null;
  const last = fieldsOf(listOf(health['Log']).at(-1));
  const endedAt = Date.parse(textOf(last?.['End']));
  const exitCode = last?.['ExitCode'];
  const failures = health['FailingStreak'];
  return {
    status,
    failures: typeof failures === 'number' ? failures : 0,
    // A time that has not come is written as the year 1.
    lastEndedAt: endedAt > 0 ? endedAt : null,
    lastExitCode: typeof exitCode === 'number' ? exitCode : null,
    lastOutput: redact(textOf(last?.['Output']), known, { end: true }).trim().slice(0, MAX_OUTPUT_CHARS),
  };
}

/** Null: there is none, or it was switched off. */
export function readHealthCheck(check: Fields | null): HealthCheckTimes | null {
  const [kind] = listOf(check?.['Test']);
  if (check === null || kind === undefined || kind === 'NONE') return null;
  return {
    intervalMs: ms(check['Interval']) || DEFAULTS.intervalMs,
    timeoutMs: ms(check['Timeout']) || DEFAULTS.timeoutMs,
    startPeriodMs: ms(check['StartPeriod']),
    retries: count(check['Retries']) || DEFAULTS.retries,
  };
}

export const nanoseconds = (milliseconds: number): number => Math.round(milliseconds * NS_PER_MS);

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);
const ms = (ns: unknown): number => count(ns) / NS_PER_MS;

/** From a list: newer Engines say it, with all others it stands in the text, "Up 3 minutes (healthy)". */
export function healthOfSummary(row: Fields): HealthWord | 'none' {
  const said = healthWord(textOf(textsOf(row['Health'])['Status']));
  if (said !== null) return said;
  const [, word = ''] = /\((?:health: )?(starting|healthy|unhealthy)\)/.exec(textOf(row['Status'])) ?? [];
  return healthWord(word) ?? 'none';
}
