/** Lines of YAML for a component, from the values that other tools have; whatever cannot be written is left to the caller. */
import { durationText, MAX_DURATION_MS } from '../duration.ts';
import { STOP_SIGNALS } from '../signals.ts';
import { MAX_SIZE_BYTES, sizeText } from '../size.ts';
import { flowMap, type Pair } from '../words/argv.ts';

export interface RestartWords {
  readonly policy?: 'always' | 'on-failure' | 'never' | undefined;
  readonly initialMs?: number | undefined;
  readonly factor?: number | undefined;
  readonly maxMs?: number | undefined;
  readonly limit?: number | undefined;
  readonly withinMs?: number | undefined;
  readonly neverOn?: readonly (string | number)[] | undefined;
}

const DEFAULT_MAX_MS = 60_000;
const MAX_COUNT = 1_000_000;

export const isDuration = (ms: number | null | undefined): ms is number =>
  ms !== null && ms !== undefined && Number.isFinite(ms) && ms >= 0 && ms <= MAX_DURATION_MS;

const duration = (key: string, ms: number | undefined): readonly Pair[] =>
  isDuration(ms) ? [[key, durationText(ms)]] : [];

/** Empty: there is nothing to say. */
export function restartLines(words: RestartWords): readonly string[] {
  const { policy, initialMs, factor, maxMs, limit, withinMs, neverOn = [] } = words;
  const most = initialMs !== undefined && initialMs > (maxMs ?? DEFAULT_MAX_MS) ? initialMs : maxMs;
  const backoff: readonly Pair[] = [
    ...duration('initial', initialMs),
    ...(factor === undefined ? [] : [['factor', String(factor)] as const]),
    ...duration('max', most),
  ];
  const bounds: readonly Pair[] = [
    ...(limit !== undefined && limit >= 0 && limit <= MAX_COUNT ? [['max', String(limit)] as const] : []),
    ...duration('within', withinMs),
  ];
  const restarts = policy !== 'never';
  const pairs: readonly Pair[] = [
    ...(policy === undefined || policy === 'always' ? [] : [['policy', policy] as const]),
    ...(restarts && backoff.length > 0 ? [['backoff', flowMap(backoff)] as const] : []),
    ...(restarts && bounds.length > 0 ? [['limit', flowMap(bounds)] as const] : []),
    ...(restarts && neverOn.length > 0 ? [['never_on', `[${neverOn.join(', ')}]`] as const] : []),
  ];
  return pairs.length === 0 ? [] : [`restart: ${flowMap(pairs)}`];
}

export function stopLines(signal: string | undefined, graceMs: number | undefined): readonly string[] {
  const pairs: readonly Pair[] = [
    ...(signal === undefined || signal === 'SIGTERM' ? [] : [['signal', signal] as const]),
    ...duration('grace', graceMs),
  ];
  return pairs.length === 0 ? [] : [`stop: ${flowMap(pairs)}`];
}

export const mapLine = (key: string, pairs: readonly Pair[]): readonly string[] =>
  pairs.length === 0 ? [] : [`${key}: ${flowMap(pairs)}`];

/** "TERM", "SIGTERM", "15": the name of a signal, or null. */
export function signalName(text: string): string | null {
  const name =
    BY_NUMBER[text.trim()] ??
    text
      .trim()
      .toUpperCase()
      .replace(/^(?!SIG)/, 'SIG');
  return STOP_SIGNALS.includes(name) ? name : null;
}

/** Those that programs are asked to end with. */
const BY_NUMBER: Readonly<Record<string, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  12: 'SIGUSR2',
  15: 'SIGTERM',
};

const BYTES: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** "300M", "1G", "50MB": as those tools count, a megabyte is 2^20 bytes. Null: no size, or none that could be written. */
export function sizeOf(text: string): string | null {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)\s*([kmgt]?)i?b?$/i.exec(text.trim());
  if (!match) return null;
  const bytes = Math.round(Number(match[1]) * BYTES[match[2]!.toLowerCase()]!);
  return bytes >= 1 && bytes <= MAX_SIZE_BYTES ? sizeText(bytes) : null;
}
