/** How a run ended, out of its JSON: complete whatever is in there, because it is shown as it is. */
import type { ExitView } from '../../base/pure/exit.ts';
import { isObject, parsed } from './cells.ts';
import type { SqlValue } from '../../base/sqlite.ts';

const UNREADABLE: ExitView = {
  code: null,
  signal: null,
  oom: false,
  core: false,
  ambiguous: false,
  spawn_error: null,
  unknown: 'the record cannot be read',
  unhealthy: null,
};

export const exitOf = (cell: SqlValue | undefined): ExitView => completeExit(parsed(cell, UNREADABLE, isObject));

/** Before there were probes, nobody was ended because of one. */
export const completeExit = (exit: ExitView): ExitView => ({ ...exit, unhealthy: exit.unhealthy ?? null });
