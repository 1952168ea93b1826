/** A heartbeat as it is written, made complete. */

import { z } from 'zod';
import type { SignalName } from '../base/pure/exit.ts';
import type { HeartbeatSource, HeartbeatSpec } from '../supervision/rules/freeze/heartbeat.ts';
import { DEFAULTS } from './defaults.ts';
import type { Say } from './draft.ts';
import { isWritten } from './draft.ts';
import { DURATION_PATTERN, durationText } from './duration.ts';
import { exactlyOne, leaf, optional, orVariable, path, pattern, positiveDuration, text } from './leaves.ts';
import { type Reader, readDuration, readStopSignal, refuse, scalarReader } from './readers.ts';
import { STOP_SIGNALS } from './signals.ts';
import type { Path, TreeNode } from './tree.ts';

type HeartbeatConfig = z.output<typeof heartbeatSchema>;

export const heartbeatSpec = (config: HeartbeatConfig, absolute: (path: string) => string): HeartbeatSpec => ({
  source: sourceOf(config, absolute),
  freezeAfterMs: config.freeze_after ?? DEFAULTS.heartbeat.freezeAfterMs,
  dumpSignal: config.dump_signal ?? null,
});

/** Exactly one of them is there, or something would have been reported. */
function sourceOf(config: HeartbeatConfig, absolute: (path: string) => string): HeartbeatSource {
  const { file, field, log_every, log_pattern } = config;
  if (file !== undefined) return { kind: 'file', path: absolute(file), field: field ?? null };
  return log_every === undefined ? { kind: 'ping' } : { kind: 'log', everyMs: log_every, pattern: log_pattern ?? null };
}

// A sign of progress as a schema: where it comes from, and how long it may be missing.

/** Shorter than this, a busy machine looks like a frozen component. */
const MIN_FREEZE_MS = 1_000;

const readFreezeAfter: Reader<number> = (node) => {
  const read = readDuration({ zero: false })(node);
  if (!('value' in read) || read.value >= MIN_FREEZE_MS) return read;
  return refuse(
    `must be at least ${durationText(MIN_FREEZE_MS)}`,
    'A busy machine would look like a frozen component.',
  );
};

const readTrue: Reader<true> = scalarReader('true', ({ value }) =>
  value === true ? { value } : refuse('must be true', 'Write "ping: true", or name another heartbeat.'),
);

/** These end a program; what is wanted is that it speaks. */
const ENDING: readonly string[] = ['SIGKILL', 'SIGTERM', 'SIGINT'];

const DUMP_SIGNALS = STOP_SIGNALS.filter((signal) => !ENDING.includes(signal));

const readDumpSignal: Reader<SignalName> = (node) => {
  const read = readStopSignal(node);
  if (!('value' in read) || !ENDING.includes(read.value)) return read;
  const hint = 'Use the one at which it writes down where it is: SIGQUIT (JVM), SIGUSR1 (Python faulthandler).';
  return refuse(`${read.value} would end it`, hint);
};

export const heartbeatSchema = exactlyOne(
  z.strictObject({
    file: optional(path, {
      description:
        'A file that it writes regularly, relative to the folder of the first configuration file. Every change is a beat.',
      defaultNote: 'none',
      example: 'state/loop.json',
    }),
    field: optional(text, {
      description:
        'Only with `file`: the file is a JSON document, and a beat is a new value of this field, a time (seconds or milliseconds since 1970, or ISO 8601). Dots lead into inner objects.',
      defaultNote: 'when the file was written',
      example: 'last_update',
    }),
    log_every: optional(positiveDuration, {
      description: 'It writes a line at least this often. Every line is a beat, whichever of its processes writes it.',
      defaultNote: 'none',
      example: '30s',
    }),
    log_pattern: optional(pattern, {
      description:
        'Only with `log_every`: a text or /regular expression/; only matching lines are beats. For a component that writes other lines all the time.',
      defaultNote: 'every line',
      example: 'processed batch',
    }),
    ping: optional(leaf(readTrue, '`true`', { const: true }), {
      description: 'It sends its heartbeat itself: `keepwell beat NAME`, or `POST /v1/beat/NAME`.',
      defaultNote: 'none',
      example: true,
    }),
    freeze_after: optional(leaf(readFreezeAfter, 'duration', orVariable({ pattern: DURATION_PATTERN.source })), {
      description:
        'After this time without a beat (with `log_every`: counted from when the next was due) it is frozen: examined, then ended and restarted according to the policy.',
      defaultsTo: durationText(DEFAULTS.heartbeat.freezeAfterMs),
      example: '2m',
    }),
    dump_signal: optional(leaf(readDumpSignal, 'signal', orVariable({ enum: DUMP_SIGNALS })), {
      description:
        'Sent to the main process when it is frozen, so that it writes a stack dump. What it writes is kept with the crash.',
      defaultNote: 'none',
      example: 'SIGQUIT',
    }),
  }),
  ['file', 'log_every', 'ping'],
);

// Keys of a heartbeat that would do nothing where they stand.

const BELONGS: Readonly<Record<string, string>> = { field: 'file', log_pattern: 'log_every' };
const FORMS: Readonly<Record<string, string>> = { file: 'file: state.json', log_every: 'log_every: 30s' };

/** `written`: the component as it stands in the file, at `path`. */
export function checkHeartbeat(written: TreeNode | undefined, path: Path, say: Say): void {
  for (const [key, owner] of Object.entries(BELONGS)) {
    if (!isWritten(written, 'heartbeat', key) || isWritten(written, 'heartbeat', owner)) continue;
    say([...path, 'heartbeat', key], `${key} needs ${owner}`, `Write beside it: ${FORMS[owner]}, or remove it.`);
  }
}
