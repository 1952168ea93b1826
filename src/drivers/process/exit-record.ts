/** From the shim's words to the cause of death. */
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { ExitCause, SignalName } from '../../base/pure/exit.ts';
import type { MonoMs } from '../../base/pure/ids.ts';
import { readIfThere } from './run-dir.ts';

/** A line `exit CODE MESSAGE` of the shim; the message is what the shell itself printed about the death, if anything. */
export interface ExitRecord {
  readonly code: number;
  readonly message: string;
}

export function parseExit(line: string): ExitRecord | null {
  const [, code, message] = /^exit (\d{1,3})(?: (.*))?$/.exec(line.trimEnd()) ?? [];
  return code === undefined ? null : { code: Number(code), message: (message ?? '').trim() };
}

/** Cheaper than reading it, and nearly always enough. Throws when that is not known just now. */
export const hasExit = (runDir: string): boolean =>
  statSync(join(runDir, 'exit'), { throwIfNoEntry: false }) !== undefined;

/** The record that the shim moved into place, or null while there is none. Throws when it cannot be read just now. */
export function readExit(runDir: string): ExitRecord | null {
  const [line] = readIfThere(join(runDir, 'exit'))?.split('\n') ?? [];
  return parseExit(line ?? '');
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
export function causeOfExit({ code, message }: ExitRecord, oomKilled: boolean): ExitCause {
  if (code <= SIGNAL_BASE || message === '') {
    const oom = oomKilled && code === KILLED_CODE ? { oom: true } : {};
    return { kind: 'code', code, ambiguous: AMBIGUOUS_CODES.includes(code), ...oom };
  }
  return bySignal(code - SIGNAL_BASE, message.includes('core dumped'), oomKilled);
}

/** The raw status of wait(2), which the kernel shows for a zombie whose shim does not collect it. */
export function causeOfWaitStatus(status: number, oomKilled: boolean): ExitCause {
  const signal = status & 0x7f;
  if (signal === 0) return { kind: 'code', code: (status >> 8) & 0xff, ambiguous: false };
  return bySignal(signal, (status & 0x80) !== 0, oomKilled);
}

function bySignal(number: number, core: boolean, oomKilled: boolean): ExitCause {
  const signal = signalName(number);
  return { kind: 'signal', signal, core, oom: signal === 'SIGKILL' && oomKilled };
}
