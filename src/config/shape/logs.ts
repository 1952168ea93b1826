/** How much of what components write is kept: for the project, and for one component. */
import { z } from 'zod';
import { DEFAULTS } from '../defaults.ts';
import { sizeText } from '../size.ts';
import { boolean, number, optional, size } from './leaves.ts';

/** Less than this would be put aside all the time. */
const MIN_LOG_BYTES = 64 * 1024;

const keeping = {
  max_size: optional(size(MIN_LOG_BYTES), {
    description: 'When the log of a component is longer than this, its older part is put aside.',
    defaultsTo: sizeText(DEFAULTS.logs.maxBytes),
    example: '10MB',
  }),
  keep: optional(number({ min: 0, max: 1_000, whole: true }), {
    description: 'How many parts that were put aside are kept; the oldest one goes first.',
    defaultsTo: DEFAULTS.logs.keep,
    example: 10,
  }),
  compress: optional(boolean, {
    description: 'Compress the parts that were put aside (gzip).',
    defaultsTo: DEFAULTS.logs.compress,
    example: false,
  }),
};

export const logsSchema = z.strictObject({
  ...keeping,
  max_total: optional(size(MIN_LOG_BYTES), {
    description: 'All logs of the project together. When they are more, the oldest parts go first.',
    defaultsTo: sizeText(DEFAULTS.logs.maxTotalBytes),
    example: '2GB',
  }),
  min_free: optional(size(0), {
    description:
      'Logs are cut, the largest first, before less than this is free on their disk: a full disk would end the components. `0B` switches it off.',
    defaultNote: '`1GB` or 5 % of the disk, whichever is more, but at most a quarter of it',
    example: '5GB',
  }),
});

export const componentLogsSchema = z.strictObject(keeping);
