/**
 * Commands that run in a container without us: output and exit code go to files in there, so neither a cut connection nor our own
 * death loses them. The files are the truth. What is heard of a command, and what the Engine remembers of it, only makes looking cheap.
 */
import type { Clock } from '../../base/clock.ts';
import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { EngineClient, ExecBytes, FullInspection, Launched } from '../../docker/ports.ts';
import type { AttemptBegun, AttemptObservation, AttemptPlace, Execs } from '../ports.ts';
import { timeLimit } from '../time-limit.ts';
import {
  BEGIN,
  CLEAR,
  DISK_PLACES,
  END,
  fileOf,
  GREETING,
  LOOK,
  MARK,
  MAX_TOLD_BYTES,
  markOf,
  OUTPUT,
  shell,
} from './scripts.ts';

/** One of our few lines in a container; on a machine that is busy with experiments it has to wait for its turn. */
const SCRIPT_WITHIN_MS = 30_000;
/** What the scripts say beside the output of an attempt is one line. */
const MAX_LINE_BYTES = 4_096;
/** To read the output takes a command in the container, however little of it there is. */
const MAX_PIECE_BYTES = 2 ** 20;
/** How many old attempts are cleared away with the begin of a new one. */
const MAX_FORGOTTEN = 100;
/** Of what is begun in a container, as long as `docker exec` waits for it on a busy machine. */
const BEGIN_WITHIN_MS = 60_000;
const LINE_BREAK = 0x0a;
const NOTHING = Buffer.alloc(0);
const HEAR_WITHIN_MS = 1_000;
const TOO_LATE = { kind: 'unreachable', why: 'the Docker Engine did not begin it in time' } as const;
const NEVER = new AbortController().signal;

export interface ExecsParts {
  readonly engine: EngineClient;
  readonly clock: Clock;
}

export function createExecs({ engine, clock }: ExecsParts): Execs {
  const listeners = createExecListeners(clock);
  const outputs = createOutputs();
  /** By container. They go with the next begin, which costs nothing more; or with their container. */
  const unwanted = new Map<string, readonly string[]>();
  const key = ({ container, attempt }: AttemptPlace): string => `${container} ${attempt}`;

  async function run(
    place: AttemptPlace,
    script: readonly string[],
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Exclude<ExecBytes, { kind: 'called-off' }>> {
    using time = timeLimit(clock, SCRIPT_WITHIN_MS, signal);
    const result = await engine.execBytes(place.container, script, maxBytes, time.signal);
    signal.throwIfAborted();
    if (result.kind !== 'called-off') return result;
    return { kind: 'unreachable', why: `a look into the container of "${place.service}" did not come to an end` };
  }

  /** What it means that the container took no command: the container itself tells. */
  async function refused(place: AttemptPlace, why: string, signal: AbortSignal): Promise<AttemptBegun> {
    const now = await engine.inspect(place.container, signal);
    if (now.kind === 'unreachable') return now;
    const lost = lostBecause(place.service, now);
    if (lost !== null) return { kind: 'lost', why: lost };
    const never = noShell(place.service, why);
    if (never !== null) return { kind: 'refused', why: never };
    return { kind: 'lost', why: `the Engine ran no command in "${place.service}": ${why}` };
  }

  const keepOutput = (place: AttemptPlace, from: number, bytes: Buffer, max: number) =>
    outputs.keep(key(place), { from, bytes, isAll: bytes.length < max });

  async function lookIntoIt(place: AttemptPlace, signal: AbortSignal): Promise<AttemptObservation> {
    const from = outputs.position(key(place));
    const script = shell(LOOK, place.attempt, `${from + 1}`, `${MAX_PIECE_BYTES}`);
    const result = await run(place, script, MAX_LINE_BYTES + MAX_PIECE_BYTES, signal);
    if (result.kind === 'unreachable') return result;
    if (result.kind === 'exited') {
      const line = result.bytes.indexOf(LINE_BREAK);
      const observation = observationOf(place, result.bytes.toString('utf8', 0, Math.max(0, line)).trim());
      if (observation.kind === 'ended') keepOutput(place, from, result.bytes.subarray(line + 1), MAX_PIECE_BYTES);
      return observation;
    }
    // Only now: to pack a file, the Engine starts a process as well, and the one above brings the output along.
    const file = { attempt: place.attempt, name: 'exit', from: 0 } as const;
    const limits = { maxBytes: MAX_LINE_BYTES, maxFileBytes: MAX_LINE_BYTES };
    const left = await readStopped(engine, place.container, { ...file, ...limits }, signal);
    const observation = observationOf(place, left?.toString('utf8').trim() ?? '');
    if (observation.kind === 'ended') return observation;
    const why = await refused(place, result.why, signal);
    return why.kind === 'unreachable' ? why : { kind: 'lost', why: 'why' in why ? why.why : result.why };
  }

  return {
    begin: async (place, { command, env }, signal) => {
      const old = unwanted.get(place.container) ?? [];
      const wrapped = shell(BEGIN, place.attempt, old.slice(0, MAX_FORGOTTEN).join(' '), ...command);
      const marked = { ...env, [MARK]: markOf(place.attempt) };
      const asked = { env: marked, greeting: GREETING, maxBytes: MAX_TOLD_BYTES + MAX_LINE_BYTES };
      const listening = new AbortController();
      // Not called off halfway: it would begin all the same, after everybody has looked for it.
      using time = timeLimit(clock, BEGIN_WITHIN_MS, NEVER);
      time.signal.addEventListener('abort', () => listening.abort());
      const launched = await engine.launch(place.container, wrapped, asked, listening.signal).catch(() => TOO_LATE);
      if (launched.kind === 'launched') {
        listeners.add(place, launched, listening, signal);
        unwanted.set(place.container, (unwanted.get(place.container) ?? []).slice(Math.min(old.length, MAX_FORGOTTEN)));
      }
      signal.throwIfAborted();
      if (launched.kind === 'unreachable') return launched;
      if (launched.kind === 'not-started') return refused(place, launched.why, signal);
      return { kind: 'begun' };
    },
    pause: (place, until, signal) => listeners.pause(place, until, signal),
    look: async (place, signal) => {
      const exec = listeners.execOf(place);
      if (exec !== null) {
        const state = await engine.execState(exec, signal);
        if (state.kind === 'running') return state;
        // The Engine may write it down a moment before we hear it.
        if (state.kind === 'ended') await listeners.pause(place, after(clock.now(), HEAR_WITHIN_MS), signal);
      }
      const told = listeners.toldOf(place);
      if (!told) return lookIntoIt(place, signal);
      keepOutput(place, 0, told.output, MAX_TOLD_BYTES);
      return observationOf(place, told.exit);
    },
    output: async (place, position, signal) => {
      const known = outputs.known(key(place), position);
      if (known) return known;
      const script = shell(OUTPUT, place.attempt, `${position + 1}`, `${MAX_PIECE_BYTES}`);
      const result = await run(place, script, MAX_PIECE_BYTES, signal);
      const file = { attempt: place.attempt, name: 'out', from: position } as const;
      const limits = { maxBytes: MAX_PIECE_BYTES, maxFileBytes: Number.MAX_SAFE_INTEGER };
      const bytes =
        result.kind === 'not-started'
          ? await readStopped(engine, place.container, { ...file, ...limits }, signal)
          : bytesOf(result);
      outputs.told(key(place), position + (bytes?.length ?? 0));
      return bytes ?? NOTHING;
    },
    end: async (place, signal) => {
      listeners.drop(place);
      const result = await run(place, shell(END, place.attempt), MAX_LINE_BYTES, signal);
      if (result.kind === 'exited') return result.bytes.toString('utf8').trim() === 'gone';
      // In a container that does not run, nothing is left of it.
      const now = await engine.inspect(place.container, signal);
      return now.kind === 'missing' || (now.kind === 'found' && !now.state.running);
    },
    clear: async (place, signal) => {
      listeners.drop(place);
      outputs.forget(key(place));
      const result = await run(place, shell(CLEAR, place.attempt), MAX_LINE_BYTES, signal);
      if (bytesOf(result).toString('utf8').trim() === 'cleared') return;
      unwanted.set(place.container, [...(unwanted.get(place.container) ?? []), place.attempt]);
    },
    forget: (place) => {
      listeners.drop(place);
      outputs.forget(key(place));
      unwanted.set(place.container, [...(unwanted.get(place.container) ?? []), place.attempt]);
      return Promise.resolve();
    },
  };
}

const bytesOf = (result: ExecBytes): Buffer => (result.kind === 'exited' ? result.bytes : NOTHING);

/** How far the output of each attempt has been read, and the rest of it where it came along with the news of its end. */
export interface Rest {
  readonly from: number;
  readonly bytes: Buffer;
  /** There is no more behind it. */
  readonly isAll: boolean;
}

export function createOutputs() {
  const positions = new Map<string, number>();
  const rests = new Map<string, Rest>();
  return {
    position: (key: string): number => positions.get(key) ?? 0,
    told: (key: string, position: number) => void positions.set(key, position),
    keep: (key: string, rest: Rest) => void rests.set(key, rest),
    /** Null: it has to be asked for. */
    known: (key: string, position: number): Buffer | null => {
      const rest = rests.get(key);
      if (!rest || position < rest.from) return null;
      const left = rest.bytes.subarray(position - rest.from);
      const isAll = rest.isAll && position <= rest.from + rest.bytes.length;
      return left.length > 0 || isAll ? left : null;
    },
    forget: (key: string) => {
      positions.delete(key);
      rests.delete(key);
    },
  };
}

// What the scripts in a container say of an attempt, in the words of the port.

export function observationOf({ service }: AttemptPlace, said: string): AttemptObservation {
  const exit = /^exit (\d+) (\S*) (\S*) end$/.exec(said);
  if (exit) return { kind: 'ended', exitCode: Number(exit[1]), durationMs: between(exit[2], exit[3]) };
  if (said === 'running' || said === 'absent') return { kind: said };
  if (said === 'dead') return { kind: 'lost', why: `it died in "${service}" without leaving an exit code` };
  return { kind: 'unreachable', why: `what was asked in the container of "${service}" had no usable answer` };
}

/** Two times in seconds, as the kernel writes them: "8123.45". */
function between(from: string | undefined, to: string | undefined): number | null {
  const ms = Math.round((Number(to) - Number(from)) * 1_000);
  return Number.isFinite(ms) && from !== '' && to !== '' ? Math.max(0, ms) : null;
}

// Why a command cannot be run in a container, or cannot be found in it any more: sentences for people.

/** Null: the container runs, so it is not to blame. */
export function lostBecause(
  service: string,
  now: Exclude<FullInspection, { readonly kind: 'unreachable' }>,
): string | null {
  if (now.kind === 'missing') return `the container of "${service}" is gone`;
  const { running, restarting, paused, exitCode } = now.state;
  if (paused) return `the container of "${service}" is paused`;
  if (restarting)
    return `the container of "${service}" is being restarted by the Engine (it ended with code ${exitCode})`;
  return running ? null : `the container of "${service}" does not run (it ended with code ${exitCode})`;
}

/** Null: there is another reason, which may pass: an Engine on a busy machine fails to run a command now and then. */
export function noShell(service: string, why: string): string | null {
  if (!/executable file .*not found|exec: "sh"/i.test(why)) return null;
  return `there is no shell ("sh") in the image of "${service}", and experiments are run by one: use an image that has a shell, as nearly all have`;
}

// Attempts that this process has begun and still listens to. A cut connection loses nothing: it is looked for in the container then.

export interface AttemptResult {
  /** The line that stands in the attempt's file `exit`. */
  readonly exit: string;
  /** The beginning of its output. */
  readonly output: Buffer;
}

interface ExecListener {
  readonly exec: string;
  /** Aborts when there is no more to hear. */
  readonly over: AbortController;
  /** Stops listening; the attempt goes on. */
  readonly leave: () => void;
  /** Null: not told yet, or cut before it was told all. */
  told: AttemptResult | null;
}

export function createExecListeners(clock: Clock) {
  const listeners = new Map<string, ExecListener>();
  const key = ({ container, attempt }: AttemptPlace): string => `${container} ${attempt}`;
  const live = (place: AttemptPlace): ExecListener | null => {
    const listener = listeners.get(key(place));
    return listener && !listener.over.signal.aborted ? listener : null;
  };

  return {
    /** Until `signal` aborts: nobody waits for it any more then, and an open connection would keep the process. */
    add: (
      place: AttemptPlace,
      { exec, said }: Extract<Launched, { kind: 'launched' }>,
      listening: AbortController,
      signal: AbortSignal,
    ): void => {
      const leave = () => listening.abort();
      const listener: ExecListener = { exec, over: new AbortController(), leave, told: null };
      listeners.set(key(place), listener);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
      void said.then((bytes) => {
        signal.removeEventListener('abort', leave);
        listener.told = toldIn(bytes, place.attempt);
        listener.over.abort();
      });
    },
    /** The Engine's id of one that is listened to. */
    execOf: (place: AttemptPlace): string | null => live(place)?.exec ?? null,
    toldOf: (place: AttemptPlace): AttemptResult | null => listeners.get(key(place))?.told ?? null,
    drop: (place: AttemptPlace): void => {
      listeners.get(key(place))?.leave();
      listeners.delete(key(place));
    },
    /** Until then, or until there is no more to hear. */
    pause: async (place: AttemptPlace, until: MonoMs, signal: AbortSignal): Promise<void> => {
      const listener = live(place);
      if (!listener) return listeners.get(key(place))?.told ? undefined : await clock.sleepUntil(until, signal);
      using time = timeLimit(clock, Math.max(0, until - clock.now()), signal);
      await eitherAborts(listener.over.signal, time.signal);
      signal.throwIfAborted();
    },
  };
}

/** The line with the exit comes last, so what is in front of it is whole. */
function toldIn(bytes: Buffer, attempt: string): AttemptResult | null {
  const start = bytes.lastIndexOf(`\ntold ${attempt} `);
  const line = start < 0 ? null : /^\ntold \S+ (exit .* end)\n$/.exec(bytes.toString('utf8', start));
  return line ? { exit: line[1]!, output: bytes.subarray(0, start) } : null;
}

async function eitherAborts(one: AbortSignal, other: AbortSignal): Promise<void> {
  const done = new AbortController();
  await new Promise<void>((resolve) => {
    for (const signal of [one, other]) {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { signal: done.signal });
    }
  });
  done.abort();
}

// Reads an attempt's files through the Engine where nothing can be run in the container any more, because it has ended. Where something
// can, a command is as fast: the Engine starts a process to pack a file, too (60 to 160 ms against 60 to 140).

export interface AttemptFile {
  readonly attempt: string;
  readonly name: 'out' | 'exit';
  readonly from: number;
  readonly maxBytes: number;
  /** The Engine sends a file from its beginning: a larger one is not asked for. */
  readonly maxFileBytes: number;
}

/** At most so many bytes from this position on; null: there is no such file, or it cannot be had. */
export async function readStopped(
  engine: Pick<EngineClient, 'archive'>,
  container: string,
  file: AttemptFile,
  signal: AbortSignal,
): Promise<Buffer | null> {
  for (const place of DISK_PLACES) {
    const part = partOf(file);
    const path = `${fileOf(place, file.attempt)}.${file.name}`;
    const read = await engine.archive(container, path, part.sink, signal);
    if (read.kind === 'done') return part.bytes();
    if (read.kind !== 'absent') return null;
  }
  return null;
}

function partOf({ from, maxBytes, maxFileBytes }: AttemptFile) {
  const kept: Buffer[] = [];
  let position = 0;
  let room = maxBytes;
  return {
    bytes: () => Buffer.concat(kept),
    sink: {
      begin: ({ kind, size }: { readonly kind: string; readonly size: number }) => {
        if (kind !== 'file' || size > maxFileBytes) throw new Error('not a file of that size');
      },
      data: (piece: Buffer) => {
        const wanted = piece.subarray(Math.min(piece.length, Math.max(0, from - position))).subarray(0, room);
        position += piece.length;
        room -= wanted.length;
        if (wanted.length > 0) kept.push(Buffer.from(wanted));
      },
      end: () => {},
    },
  };
}
