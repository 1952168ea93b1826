/** The cells that the rows of all stretches have. */
import type { Stretch } from '../../supervision/rules/health/stretch.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import { whole } from '../views.ts';
import { num, str, text } from './cells.ts';
import type { Row } from '../../base/sqlite.ts';

export const stretchCells = ({ message, firstAt, lastAt, count, lastMs, maxMs }: Stretch): Row => ({
  message: text(message),
  first_at: whole(firstAt),
  last_at: whole(lastAt),
  count: whole(count),
  last_ms: whole(lastMs),
  max_ms: whole(maxMs),
});

export const stretchOf = (row: Row): Stretch => ({
  message: str(row['message']),
  firstAt: num(row['first_at']) as WallMs,
  lastAt: num(row['last_at']) as WallMs,
  count: num(row['count']),
  lastMs: num(row['last_ms']),
  maxMs: num(row['max_ms']),
});
