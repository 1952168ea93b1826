/** A process to run, and as whom. */
import { z } from 'zod';
import { DEFAULTS } from './defaults.ts';
import { account, boolean, envName, number, optional, path, text, umask } from './leaves.ts';

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
