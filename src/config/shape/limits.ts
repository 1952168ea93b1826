/** What a run may use. */
import { z } from 'zod';
import { number, optional, size } from '../leaves.ts';

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
