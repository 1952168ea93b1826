import { HISTORY } from './0001-history.ts';
import { PROBES } from './0002-probes.ts';
import { SAMPLES } from './0003-samples.ts';
import { FREEZES } from './0004-freezes.ts';
import { CHECKS } from './0005-checks.ts';
import { SESSIONS } from './0006-sessions.ts';
import { CAMPAIGNS } from './0007-campaigns.ts';
import { INCIDENTS } from './0008-incidents.ts';
import { AGENTS } from './0009-agents.ts';
import { BUG_NUMBERS } from './0010-bug-numbers.ts';
import { EARLIER_ERRORS } from './0011-earlier-errors.ts';

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
