/** The prober of components: every kind of question, asked where the component runs, answered without secrets. */
import { programFile } from '../base/program-file.ts';
import type { Runtime } from '../base/runtime.ts';
import { environmentOf } from '../drivers/launch-run.ts';
import type { Drivers } from '../drivers/open.ts';
import { isThere } from '../drivers/process/is-there.ts';
import { isHeldBy, isOfARun, searchPortHolder } from '../drivers/process/port-holder.ts';
import { createLogWatch, type LogWatchOptions } from '../probes/log/log-watch.ts';
import { ownPortProber } from '../probes/own-port-prober.ts';
import { createProber, redactingProber } from '../probes/prober.ts';
import type { Prober } from '../supervision/ports/prober.ts';
import type { ComponentSpec } from '../supervision/spec.ts';

export interface ProbesOptions
  extends Pick<Runtime, 'clock' | 'log'>,
    Pick<Drivers, 'driver' | 'commands' | 'engine'>,
    Pick<LogWatchOptions, 'logPath' | 'place' | 'holds'> {
  /** The environment that components inherit. */
  readonly base: Readonly<Record<string, string>>;
  /** Values of a component that must never be shown. */
  secretsOf(spec: ComponentSpec): readonly string[];
}

export interface Probes {
  readonly prober: Prober;
  close(): Promise<void>;
}

export function openProbes(options: ProbesOptions): Probes {
  const { driver, commands, engine, clock, log, base, secretsOf } = options;
  const logs = createLogWatch({ ...options, workerFile: programFile('pattern-worker.cjs') });
  const prober = createProber({
    commands,
    logs,
    environmentOf: (spec) => environmentOf(spec, base),
    isAlive: isThere,
    inside: { engine, containerOf: (run) => driver.container(run)?.id ?? null },
  });
  const ownPorts = ownPortProber(prober, {
    pidsOf: async (run) => (await driver.survivors(run).catch(() => [])).map(({ pid }) => pid),
    isHeldBy,
    holderOf: searchPortHolder,
    isOfARun,
    now: () => clock.now(),
    warn: (message, facts) => log.warn(`${message}; its probe asks somebody else`, facts),
  });
  return { prober: redactingProber(ownPorts, secretsOf), close: () => logs.close() };
}
