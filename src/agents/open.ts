/** Puts together everything about agents: ours, those of others, the loop that spawns them, the passes over all of them. */

import { systemClock } from '../base/clock.ts';
import type { RunId } from '../base/pure/ids.ts';
import { secretsOf } from '../crashes/evidence.ts';
import type { AlertDesk } from '../incidents/alerts/ports.ts';
import type { Casework } from '../incidents/ports.ts';
import { fileEar } from '../probes/heartbeat/file-source.ts';
import { isObserved } from '../supervision/rules/restart/decide.ts';
import type { Simulated } from '../supervision/rules/simulation.ts';
import type { ComponentView, EventView } from '../supervision/rules/views.ts';
import { type ComponentSpec, runsInContainer } from '../supervision/spec.ts';
import { LoopWatch } from './loop.ts';
import { loopLogs } from './loop-output.ts';
import { Others } from './others.ts';
import { othersCases } from './others-cases.ts';
import type { OursParts } from './ours.ts';
import { sightOf } from './processes.ts';
import { type DaemonAgents, openAgents } from './service.ts';

export interface AgentPartsOptions extends Omit<OursParts, 'commit'> {
  readonly casework: Casework;
  readonly alerts: Pick<AlertDesk, 'raise' | 'clear'>;
  components(): readonly ComponentView[];
  /** Somebody asked for what happens to this run; null: nobody did. */
  simulated(run: RunId): Simulated | null;
  subscribe(listener: (event: EventView) => void): () => void;
  publish(event: EventView): void;
  /** False: nothing but agents is looked after here. */
  readonly supervises: boolean;
  /** The position behind the last byte of a component's log. */
  logEnd(component: string): number;
}

export function openAgentParts(options: AgentPartsOptions): Promise<DaemonAgents> {
  const { store, log, casework, alerts, config, publish } = options;
  const clock = systemClock;
  const specOf = (name: string): ComponentSpec | undefined => config().components.find((spec) => spec.name === name);
  const spec = () => config().agents;
  return openAgents({
    ...options,
    commit: (commit) => {
      for (const event of store.commit(commit)) publish(event);
    },
    others: (respawns) =>
      new Others({
        ...{ clock, log, store },
        cases: othersCases({
          ...{ clock, store, casework, respawns, spec, publish },
          cwdOf: (name) => specOf(name)?.driver.cwd ?? null,
        }),
        logs: loopLogs({
          ...{ logsDir: options.paths.logs, logEnd: options.logEnd, specOf },
          secretsOf: (component) => secretsOf(component, options.base, config().secrets),
          loop: () => spec().loop,
        }),
        sight: sightOf,
        fate: (run) => {
          const isEnding = options.components().some(({ run_id, state }) => run_id === run && state === 'stopping');
          if (isEnding) return 'ending';
          return store.run(run)?.planned ? 'asked' : 'other';
        },
        strange: ({ loop }) => {
          const driver = loop === null ? undefined : specOf(loop)?.driver;
          const isFar =
            driver && (runsInContainer(driver) || (driver.kind === 'external' && driver.target.kind === 'container'));
          return isFar ? `${loop} runs in a container, so the pids it writes down are not those of this machine` : null;
        },
      }),
    loop: new LoopWatch({
      ...{ clock, log, store, casework, alerts, subscribe: options.subscribe, simulated: options.simulated },
      view: (name) => options.components().find((view) => view.name === name) ?? null,
      isObserved: (name) => {
        const component = specOf(name);
        return component !== undefined && isObserved(component);
      },
      unsupervisedMs: (name) => (options.supervises ? null : (specOf(name)?.heartbeat?.freezeAfterMs ?? null)),
      fileAgeMs: async (name) => {
        const source = specOf(name)?.heartbeat?.source;
        if (source?.kind !== 'file') return null;
        using ear = fileEar(source.path, source.field, null);
        const heard = await ear.listen();
        return heard.kind !== 'beat' || heard.ageMs === null ? null : Math.max(0, heard.ageMs);
      },
    }),
  });
}
