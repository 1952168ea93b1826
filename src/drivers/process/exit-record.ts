/** From the shim's words to the cause of death. */
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { ExitCause, ExitUsage, SignalName } from '../../base/pure/exit.ts';
import type { MonoMs } from '../../base/pure/ids.ts';
import { readIfThere } from './run-dir.ts';

/**
 * A line `exit CODE MESSAGE` of the shim; the message is what the shell itself printed about the death, if anything, or why the command
 * could not be begun. A native shim adds a line of what wait4(2) has told it, unless the command was never executed.
 */
export interface ExitRecord {
  readonly code: number;
  readonly message: string;
  /** Null: the shim is not native, or the command was never executed. */
  readonly waited: Waited | null;
}

/** What the kernel says of a process that has ended. */
export interface Waited {
  readonly status: number;
  readonly usage: ExitUsage;
}

export function parseExit(line: string, waited: Waited | null = null): ExitRecord | null {
  const [, code, message] = /^exit (\d{1,3})(?: (.*))?$/.exec(line.trimEnd()) ?? [];
  return code === undefined ? null : { code: Number(code), message: (message ?? '').trim(), waited };
}

const BYTES_PER_KIB = 1024;
const US_PER_MS = 1000;

/** `wait STATUS MAX-RSS-KIB USER-US SYSTEM-US`; null: the line is about something else. */
export function parseWaited(line: string): Waited | null {
  const [, ...words] = /^wait (\d+) (\d+) (\d+) (\d+)$/.exec(line) ?? [];
  if (words.length === 0) return null;
  const [status = 0, maxRssKib = 0, userUs = 0, systemUs = 0] = words.map(Number);
  const cpuMs = Math.round((userUs + systemUs) / US_PER_MS);
  return { status, usage: { maxRssBytes: maxRssKib * BYTES_PER_KIB, cpuMs } };
}

/** Cheaper than reading it, and nearly always enough. Throws when that is not known just now. */
export const hasExit = (runDir: string): boolean =>
  statSync(join(runDir, 'exit'), { throwIfNoEntry: false }) !== undefined;

/** The record that the shim moved into place, or null while there is none. Throws when it cannot be read just now. */
export function readExit(runDir: string): ExitRecord | null {
  const [line = '', next = ''] = readIfThere(join(runDir, 'exit'))?.split('\n') ?? [];
  return parseExit(line, parseWaited(next));
}

/** When the record was written, or now without one. Kept between the start and now, because wall time may have jumped. */
export function recordedAt(runDir: string, startedAt: MonoMs | null, clock: Clock): MonoMs {
  const now = clock.now();
  try {
    const ageMs = clock.wallNow() - statSync(join(runDir, 'exit')).mtimeMs;
    return Math.max(Math.min(now, now - ageMs), startedAt ?? 0) as MonoMs;
  } catch {
    return now;
  }
}

const SIGNAL_BASE = 128;
/** What a script ends with when the last thing it waited for was killed. */
const KILLED_CODE = SIGNAL_BASE + constants.signals.SIGKILL;
/** What no shell says a word about: deaths by SIGINT and SIGPIPE look like these exit codes. */
const AMBIGUOUS_CODES = [SIGNAL_BASE + constants.signals.SIGINT, SIGNAL_BASE + constants.signals.SIGPIPE];

const SIGNAL_NAMES = new Map<number, SignalName>(
  // Reversed, so that of two names for one number (SIGIOT is SIGABRT) the first one of the table wins.
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name as SignalName]),
);

const signalName = (number: number): SignalName => SIGNAL_NAMES.get(number) ?? `SIG${number}`;

/** Out of memory is never concluded from a signal alone; `oomKilled` is what the kernel counted in the run's own cgroup. */
export function causeOfExit({ code, message, waited }: ExitRecord, oomKilled: boolean): ExitCause {
  if (waited !== null) return { ...causeOfWaitStatus(waited.status, oomKilled), usage: waited.usage };
  if (code > SIGNAL_BASE && message !== '')
    return bySignal(code - SIGNAL_BASE, message.includes('core dumped'), oomKilled);
  return byCode(code, AMBIGUOUS_CODES.includes(code), oomKilled);
}

/** The raw status of wait(2), which the kernel shows also for a zombie whose shim does not collect it. */
export function causeOfWaitStatus(status: number, oomKilled: boolean): EndOfProcess {
  const signal = status & 0x7f;
  if (signal === 0) return byCode((status >> 8) & 0xff, false, oomKilled);
  return bySignal(signal, (status & 0x80) !== 0, oomKilled);
}

type EndOfProcess = Extract<ExitCause, { kind: 'code' | 'signal' }>;

const byCode = (code: number, ambiguous: boolean, oomKilled: boolean): EndOfProcess => ({
  kind: 'code',
  code,
  ambiguous,
  ...(oomKilled && code === KILLED_CODE ? { oom: true } : {}),
});

function bySignal(number: number, core: boolean, oomKilled: boolean): EndOfProcess {
  const signal = signalName(number);
  return { kind: 'signal', signal, core, oom: signal === 'SIGKILL' && oomKilled };
}
