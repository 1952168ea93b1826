/** Puts together everything about agents: ours, those of others, the loop that spawns them, the passes over all of them. */

import { readFileSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import type { ExitCause } from '../base/pure/exit.ts';
import type { RunId, WallMs } from '../base/pure/ids.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { secretsOf } from '../crashes/evidence.ts';
import { causeOfWaitStatus } from '../drivers/process/exit-record.ts';
import { isAlive, mayTrace, type ProcStat, parseStat } from '../drivers/process/proc.ts';
import { cookieOf } from '../drivers/process/tree/proc-scan.ts';
import type { AlertService } from '../incidents/alerts/ports.ts';
import type { Incidents } from '../incidents/ports.ts';
import { fileSource } from '../probes/heartbeat/sources.ts';
import { isObserved } from '../supervision/rules/restart/decide.ts';
import type { ComponentView, EventView } from '../supervision/rules/views.ts';
import { type ComponentSpec, runsInContainer } from '../supervision/spec.ts';
import { LoopWatch } from './loop.ts';
import { Others } from './others.ts';
import { loopLogs, othersCases } from './others-cases.ts';
import type { OursParts } from './ours.ts';
import type { ProcessObservation } from './rules/others-pass.ts';
import { type DaemonAgents, openAgents } from './service.ts';

export interface AgentPartsOptions extends OursParts {
  onConfig(listener: (config: ResolvedConfig) => void): void;
  readonly incidentService: Incidents;
  readonly alerts: Pick<AlertService, 'raise' | 'clear' | 'isOpen'>;
  components(): readonly ComponentView[];
  subscribe(listener: (event: EventView) => void): () => void;
  /** False: nothing but agents is looked after here. */
  readonly supervises: boolean;
  /** The position behind the last byte of a component's log. */
  logEnd(component: string): number;
}

export async function openAgentParts(options: AgentPartsOptions): Promise<DaemonAgents> {
  const { store, log, incidentService, record, alerts, config } = options;
  const clock = systemClock;
  const specOf = (name: string): ComponentSpec | undefined => config().components.find((spec) => spec.name === name);
  const spec = () => config().agents;
  const agents = await openAgents({
    ...options,
    others: (respawns) =>
      new Others({
        ...{ clock, log, store },
        cases: othersCases({
          ...{ clock, record, incidentService, respawns, spec },
          cwdOf: (name) => specOf(name)?.driver.cwd ?? null,
        }),
        logs: loopLogs({
          ...{ logsDir: options.paths.logs, logEnd: options.logEnd, specOf },
          secretsOf: (component) => secretsOf(component, options.base, config().secrets),
          loop: () => spec().loop,
        }),
        observe: observeProcess,
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
      ...{ clock, log, store, incidentService, alerts, subscribe: options.subscribe },
      view: (name) => options.components().find((view) => view.name === name) ?? null,
      isObserved: (name) => {
        const component = specOf(name);
        return component !== undefined && isObserved(component);
      },
      unsupervisedMs: (name) => (options.supervises ? null : (specOf(name)?.heartbeat?.freezeAfterMs ?? null)),
      fileAgeMs: async (name) => {
        const source = specOf(name)?.heartbeat?.source;
        if (source?.kind !== 'file') return null;
        using openSource = fileSource(source.path, source.field, null);
        const heard = await openSource.listen();
        return heard.kind !== 'beat' || heard.ageMs === null ? null : Math.max(0, heard.ageMs);
      },
    }),
  });
  options.onConfig((fresh) => agents.use(fresh.agents));
  return agents;
}

// What is under a pid that somebody else wrote down. It is only ever looked at; no signal is sent to it.

const MS_PER_TICK = 10;
const MS_PER_SECOND = 1_000;

export function observeProcess(pid: number): ProcessObservation {
  const before = existence(pid);
  if (before === 'gone') return { kind: 'gone' };
  try {
    return lookAt(pid);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // A /proc that hides what belongs to others says the same as one from which it has just gone.
    const isGone = (code === 'ENOENT' || code === 'ESRCH') && existence(pid) === 'gone';
    return isGone
      ? { kind: 'gone' }
      : { kind: 'unknown', why: `process ${pid} cannot be checked${reason(code, before)}` };
  }
}

/** Signal 0 goes to nobody: the kernel only says whether it could be sent. */
function existence(pid: number): 'there' | 'gone' | 'not-ours' {
  try {
    process.kill(pid, 0);
    return 'there';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'not-ours';
  }
}

function reason(code: string, existence: 'there' | 'not-ours'): string {
  if (existence === 'not-ours') return ': it belongs to another user, and /proc does not show it to us';
  return code === 'ENOENT' ? ': there is no /proc here, or it shows other processes' : ` (${code})`;
}

function lookAt(pid: number): ProcessObservation {
  const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (!stat) return { kind: 'unknown', why: `/proc/${pid}/stat cannot be understood` };
  // A thread answers to its number like a process does, and is nobody's agent.
  const leader = /^Tgid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (leader !== undefined && Number(leader) !== pid) return { kind: 'gone' };
  const { startTime, ppid } = stat;
  const uptimeMs = Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * MS_PER_SECOND;
  const startedAt = (Date.now() - (uptimeMs - Number(startTime) * MS_PER_TICK)) as WallMs;
  const zombie = !isAlive(stat);
  const exit = zombie ? exitOf(stat) : null;
  return { kind: 'there', zombie, exit, startTime, startedAt, ppid, run: cookieOf(pid) as RunId | null };
}

/** How a zombie ended; null: the kernel does not tell us. */
function exitOf({ pid, waitStatus }: ProcStat): ExitCause | null {
  if (waitStatus === 0 && !mayTrace(pid)) return null;
  return causeOfWaitStatus(waitStatus, false);
}
