/** A prober for questions that are asked once: nothing of it watches logs or processes. */

import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { secretsOf } from '../crashes/evidence.ts';
import { environmentOf } from '../drivers/launch-run.ts';
import { createCommandRunner } from '../drivers/process/command-runner.ts';
import { isThere } from '../drivers/process/is-there.ts';
import { createProber, type LogPart } from '../probes/prober.ts';
import { redactingProber } from '../probes/redacting-prober.ts';
import type { Prober } from '../supervision/ports/prober.ts';

export interface AskingOptions {
  /** A directory for pipes. */
  readonly home: string;
  /** What commands see. */
  readonly base: Readonly<Record<string, string>>;
  /** Values of the configuration that must never be shown. */
  readonly secrets: readonly string[];
  readonly log: Log;
}

/** The configuration refuses a check that would ask for a line of a log. */
const noLogs = (): never => {
  throw new Error('a check cannot ask about a log');
};
const NO_LOGS: LogPart = { open: noLogs, watch: noLogs };

export function openAskingProber(options: AskingOptions): { prober: Prober; close(): Promise<void> } {
  const { home, base, secrets, log } = options;
  // Without cgroups: a command that is called by hand makes none in the cgroup of its caller.
  const commands = createCommandRunner({ home, cgroup: 'off', clock: systemClock, log, softNofile: null });
  const prober = createProber({
    commands,
    logs: NO_LOGS,
    environmentOf: (spec) => environmentOf(spec, base),
    isAlive: isThere,
  });
  return { prober: redactingProber(prober, (spec) => secretsOf(spec, base, secrets)), close: () => commands.close() };
}
