/** Has a daemon make the report on all checks, and finds out soon when it cannot: then whoever asks makes one by itself. */

import { AppError } from '../../base/pure/errors.ts';
import type { HealthQuery } from '../../checks/rules/plan.ts';
import type { HealthReport } from '../../checks/spec.ts';
import type { Client } from './client.ts';

/** `why`: what is wrong with the daemon, for people; null: there is none, which is no news for whoever has none. */
export type DaemonHealth = { readonly report: HealthReport } | { readonly why: string | null };

/** Throws what the daemon answered. */
export async function daemonHealth(
  client: Pick<Client, 'version' | 'health'>,
  query: HealthQuery,
): Promise<DaemonHealth> {
  try {
    await client.version(); // one that hangs is found out in seconds, not in the minutes that checks may take
    return { report: await client.health(query) };
  } catch (error) {
    return { why: whyNot(error) };
  }
}

function whyNot(error: unknown): string | null {
  if (!(error instanceof AppError)) throw error;
  switch (error.code) {
    case 'DAEMON_NOT_RUNNING':
      return null;
    case 'DAEMON_UNREACHABLE':
      return `the daemon does not answer (${String(error.details['problem']).replace(/\.$/, '')})`;
    case 'ROUTE_NOT_FOUND':
      return 'the daemon is of an earlier version and knows no checks ("keepwell up" brings it up to date)';
    default:
      throw error;
  }
}
