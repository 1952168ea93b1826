import { HISTORY } from './0001-history.ts';

/** In order: the first one makes version 1. Only ever added to. */
export const MIGRATIONS: readonly string[] = [HISTORY];
