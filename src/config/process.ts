/** A process to run, and as whom. */
import { z } from 'zod';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import {
  account,
  boolean,
  duration,
  envName,
  number,
  optional,
  path,
  size,
  stopSignal,
  text,
  umask,
} from './leaves.ts';

export const processSchema = z.strictObject({
  command: z.union([z.array(text), text]).meta({
    description:
      'The program and its arguments, one list item each. Nothing is split, globbed or expanded by a shell. One text instead of a list only with `shell: true`.',
    example: ['./bin/server', '--port', '7234'],
  }),
  shell: optional(boolean, {
    description:
      'Run the command, given as one text, with `/bin/sh -c`. Variables are put into the text before the shell reads it: pass untrusted values through `env` instead.',
    defaultsTo: DEFAULTS.process.shell,
    example: true,
  }),
  cwd: optional(path, {
    description: 'The working directory, relative to the folder of the first configuration file.',
    defaultNote: 'the folder of the first configuration file',
    example: './server',
  }),
  env: optional(z.record(envName, text), {
    description:
      'Variables for the process; they override those of `env_file`. Values are text: put numbers in quotes.',
    defaultsTo: {},
    example: { LOG_LEVEL: 'info', PORT: '7234' },
  }),
  env_file: optional(z.union([z.array(path), path]), {
    description:
      'A file of KEY=value lines, or a list of them (later ones win). Read again at each start; a start fails when one is missing.',
    defaultNote: 'none',
    example: '.env',
  }),
  user: optional(account, {
    description:
      'Run as this user, with its group and supplementary groups; `HOME`, `USER` and `LOGNAME` are set to fit unless `env` or a file sets them. Its exec probes run as the same user. Needs root.',
    defaultNote: 'the user of the daemon',
    example: 'app',
  }),
  group: optional(account, {
    description: 'Run with this as the main group. Needs root, also without `user`.',
    defaultNote: 'the group of `user`',
    example: 'www-data',
  }),
  umask: optional(umask, {
    description: 'The permissions that new files do not get.',
    defaultNote: 'that of the daemon',
    example: '027',
  }),
  nice: optional(number({ min: -20, max: 19, whole: true }), {
    description: 'Its priority for the processor, from -20 (first) to 19 (last). Below 0 needs root.',
    defaultNote: 'that of the daemon',
    example: 10,
  }),
});

// How a component, or an agent, is ended.

export const stopSchema = z.strictObject({
  signal: optional(stopSignal, {
    description: 'The signal that asks it to end.',
    defaultsTo: DEFAULTS.stop.signal,
    example: 'SIGINT',
  }),
  grace: optional(duration, {
    description: 'How long it may take to end before the whole process tree gets SIGKILL.',
    defaultsTo: durationText(DEFAULTS.stop.graceMs),
    example: '30s',
  }),
});

// What a run may use.

/** Below this nothing starts any more. */
const MIN_MEMORY_BYTES = 2 ** 20;

export const limitsSchema = z.strictObject({
  memory: optional(size(MIN_MEMORY_BYTES), {
    description:
      'What all its processes together may use. Beyond it the kernel kills the component (under cgroup v1 possibly only one of its processes), and that is recorded as out of memory.',
    defaultNote: 'no limit',
    example: '512MiB',
  }),
  soft_memory: optional(size(MIN_MEMORY_BYTES), {
    description: 'When it uses more than this in 3 samples in a row, it is asked to end and started again.',
    defaultNote: 'no limit',
    example: '400MiB',
  }),
  cpus: optional(number({ min: 0.01, max: 1_024 }), {
    description: 'Only with `container`: how many processors it may keep busy; 1.5 is one and a half.',
    defaultNote: 'no limit',
    example: 1.5,
  }),
  pids: optional(number({ min: 1, max: 4_194_304, whole: true }), {
    description: 'How many processes and threads it may have at a time.',
    defaultNote: 'no limit',
    example: 200,
  }),
  nofile: optional(number({ min: 16, max: 1_048_576, whole: true }), {
    description: 'How many files and sockets each of its processes may have open.',
    defaultNote: 'what the daemon was started with',
    example: 4096,
  }),
});
