/**
 * Makes crashes happen that somebody asked for. A real run is hit by a real signal; or the next run of a component, or an agent for
 * a task that does not exist, is a stand-in that dies as it was asked to. What is decided afterwards is decided as always.
 */
import type { ComponentSpec } from '../supervision/spec.ts';
import { AppError } from '../base/pure/errors.ts';
import type { SpawnProblem } from '../base/pure/exit.ts';
import type { RunId } from '../base/pure/ids.ts';
import {
  isOutcome,
  markSimulated,
  type Simulated,
  type SimulationRequest,
  type SimulationView,
} from '../supervision/rules/simulation.ts';
import { type StandInKind, standIn } from './rules/stand-in.ts';
import type { EventView } from '../supervision/rules/views.ts';
import type { Launch, ProcessLaunch } from '../supervision/ports/driver.ts';
import type { Casework } from '../incidents/ports.ts';
import type { NewCrash, Store } from '../supervision/ports/store.ts';
import { crashAgent } from './agent.ts';
import { crashComponent } from './component.ts';
import { rehearsals } from './rehearsals.ts';
import type { Scene } from './scene.ts';

export interface Simulations {
  /** Throws NO_SUCH_COMPONENT, NO_SUCH_AGENT_TYPE, COMPONENT_NOT_RUNNING, AGENTS_FULL, NOT_SIMULATED, REQUEST_INVALID. */
  crash(request: SimulationRequest): Promise<SimulationView>;
  /** The launch of a component, or of its stand-in when that is due. */
  launchOf<L extends Launch | SpawnProblem>(spec: Pick<ComponentSpec, 'name'>, launch: L): L;
  agentLaunchOf<L extends ProcessLaunch | SpawnProblem>(task: string, launch: L): L;
  /** Whether somebody asked for what happens to this run; null: nobody did. */
  ofRun(run: RunId): Simulated | null;
  /** What happens to components. */
  told(event: Pick<EventView, 'subject' | 'type'>): void;
  /** The agents are there: what an earlier daemon was killed over is cleared away. */
  begin(): void;
  /** The crash as it is, or marked when somebody asked for it. */
  marked(crash: NewCrash): NewCrash;
}

export function createSimulations(
  scene: Scene,
  store: Pick<Store, 'meta' | 'setMeta'>,
  casework: Pick<Casework, 'incidents' | 'recovered'>,
): Simulations {
  const known = rehearsals(store);
  const askedFor = (crash: NewCrash): Simulated | null => {
    const asked = known.ofRun(crash.run);
    if (asked !== null) return isOutcome(asked, crash.at) ? asked : null;
    return crash.taskId === undefined ? null : known.ofTask(crash.taskId);
  };
  return {
    crash: async (request) => {
      const { component, agent, task, kind } = request;
      if (task !== undefined && (agent === undefined || kind !== 'signal'))
        throw new AppError('REQUEST_INVALID', { problem: 'task goes with agent and kind signal.' });
      if (component !== undefined && agent === undefined) return crashComponent(component, request, scene, known);
      if (agent !== undefined && component === undefined) return crashAgent(agent, request, scene, known);
      throw new AppError('REQUEST_INVALID', { problem: 'exactly one of component and agent must be given.' });
    },
    launchOf: (spec, launch) => {
      if (!('kind' in launch)) return launch;
      const asked = known.due(spec.name);
      if (asked === null || launch.kind !== 'process') return launch;
      known.addRun(launch.run, asked);
      return { ...launch, command: standIn(asked.kind as StandInKind, launch.cwd, asked.memoryBytes).command };
    },
    agentLaunchOf: (task, launch) => {
      const asked = known.ofTask(task);
      if (asked === null || !('kind' in launch)) return launch;
      return { ...launch, command: standIn(asked.kind as StandInKind, launch.cwd, asked.memoryBytes).command };
    },
    ofRun: (run) => known.ofRun(run),
    told: ({ subject, type }) => {
      if (subject.kind === 'component' && type === 'component.stopped') known.unwant(subject.name);
    },
    begin: () => {
      for (const { subjects, tasks } of casework.incidents({ state: 'open', limit: Infinity })) {
        const left = tasks.filter((task) => known.ofTask(task) !== null && !scene.hasAgentFor(task));
        for (const task of left) for (const subject of subjects) casework.recovered(subject, task);
      }
    },
    marked: (crash) => {
      const asked = askedFor(crash);
      if (asked === null) return crash;
      const { subject, taskId } = crash;
      // Nobody will ever finish a task that does not exist. Behind the crash, which is about to be written.
      if (crash.rule === 'limit' && taskId !== undefined && known.ofTask(taskId) !== null)
        queueMicrotask(() => casework.recovered(subject, taskId));
      return markSimulated(crash, asked);
    },
  };
}
