import { HISTORY } from './migrations/0001-history.ts';
import { PROBES } from './migrations/0002-probes.ts';
import { SAMPLES } from './migrations/0003-samples.ts';
import { FREEZES } from './migrations/0004-freezes.ts';
import { CHECKS } from './migrations/0005-checks.ts';
import { SESSIONS } from './migrations/0006-sessions.ts';
import { CAMPAIGNS } from './migrations/0007-campaigns.ts';
import { INCIDENTS } from './migrations/0008-incidents.ts';
import { AGENTS } from './migrations/0009-agents.ts';
import { BUG_NUMBERS } from './migrations/0010-bug-numbers.ts';
import { EARLIER_ERRORS } from './migrations/0011-earlier-errors.ts';

/** In order: the first one makes version 1. Only ever added to. */
export const MIGRATIONS: readonly string[] = [
  HISTORY,
  PROBES,
  SAMPLES,
  FREEZES,
  CHECKS,
  SESSIONS,
  CAMPAIGNS,
  INCIDENTS,
  AGENTS,
  BUG_NUMBERS,
  EARLIER_ERRORS,
];
