/** How much of what components write is kept: for the project, and for one component. */
import { z } from 'zod';
import { DEFAULTS } from './defaults.ts';
import { boolean, number, optional, size } from './leaves.ts';
import { sizeText } from './size.ts';

/** Less than this would be put aside all the time. */
const MIN_LOG_BYTES = 64 * 1024;

const keeping = {
  max_size: optional(size(MIN_LOG_BYTES), {
    description: 'When the log of a component is larger than this, it is rotated.',
    defaultsTo: sizeText(DEFAULTS.logs.maxBytes),
    example: '10MB',
  }),
  keep: optional(number({ min: 0, max: 1_000, whole: true }), {
    description: 'How many rotated parts are kept; the oldest is removed first.',
    defaultsTo: DEFAULTS.logs.keep,
    example: 10,
  }),
  compress: optional(boolean, {
    description: 'Compress rotated parts (gzip).',
    defaultsTo: DEFAULTS.logs.compress,
    example: false,
  }),
};

export const logsSchema = z.strictObject({
  ...keeping,
  max_total: optional(size(MIN_LOG_BYTES), {
    description: 'Limit for all logs of the project together. Beyond it, the oldest parts are removed first.',
    defaultsTo: sizeText(DEFAULTS.logs.maxTotalBytes),
    example: '2GB',
  }),
  min_free: optional(size(0), {
    description:
      'Logs are cut, the largest first, to keep at least this much of their disk free: a full disk would stop the components. `0B` switches it off.',
    defaultNote: '`1GB` or 5 % of the disk, whichever is more, but at most a quarter of it',
    example: '5GB',
  }),
});

export const componentLogsSchema = z.strictObject(keeping);
