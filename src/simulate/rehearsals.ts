/** Which runs and tasks are rehearsals. It outlives the daemon: a crash that is found by the next one is known as one all the same. */
import type { SpawnProblem } from '../base/pure/exit.ts';
import type { RunId } from '../base/pure/ids.ts';
import type { Store } from '../history/ports.ts';
import type { Launch, ProcessLaunch } from '../supervision/ports/driver.ts';
import type { NewCrash } from '../supervision/ports/store.ts';
import { isOutcome, type Simulated } from '../supervision/rules/simulation.ts';
import type { EventView } from '../supervision/rules/views.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import { type StandInKind, standIn } from './rules/stand-in.ts';

export interface Rehearsals {
  /** The next run of the component is to be a stand-in. */
  want(component: string, asked: Simulated): void;
  /** The launch of a component, or of its stand-in when that is due. */
  launchOf<L extends Launch | SpawnProblem>(spec: Pick<ComponentSpec, 'name'>, launch: L): L;
  agentLaunchOf<L extends ProcessLaunch | SpawnProblem>(task: string, launch: L): L;
  /** Whether somebody asked for what happened to this run or task then; null: nobody did. */
  simulated(crash: Pick<NewCrash, 'run' | 'at' | 'taskId'>): Simulated | null;
  /** What happens to components. */
  told(event: Pick<EventView, 'subject' | 'type'>): void;
  addRun(run: RunId, asked: Simulated): void;
  addTask(task: string, asked: Simulated): void;
  /** Nothing was done to it. */
  removeRun(run: RunId): void;
  ofTask(task: string): Simulated | null;
}

const META = 'simulations';
/** Nobody rehearses that often; the oldest are forgotten. */
const MAX_KNOWN = 100;

type Table = Record<string, Simulated>;

export function openRehearsals(store: Pick<Store, 'meta' | 'setMeta'>): Rehearsals {
  const wanted = new Map<string, Simulated>();
  const known = read(store.meta(META));
  const save = (): void => store.setMeta(META, JSON.stringify(Object.fromEntries(known)));
  const add = (key: string, asked: Simulated): void => {
    known.delete(key);
    known.set(key, asked);
    for (const oldest of [...known.keys()].slice(0, -MAX_KNOWN)) known.delete(oldest);
    save();
  };
  const addRun = (run: RunId, asked: Simulated): void => add(`run ${run}`, asked);
  const ofTask = (task: string): Simulated | null => known.get(`task ${task}`) ?? null;
  return {
    want: (component, asked) => void wanted.set(component, asked),
    launchOf: (spec, launch) => {
      const asked = wanted.get(spec.name);
      if (asked === undefined || !('kind' in launch)) return launch;
      wanted.delete(spec.name);
      if (launch.kind !== 'process') return launch;
      addRun(launch.run, asked);
      return { ...launch, command: commandOf(launch, asked) };
    },
    agentLaunchOf: (task, launch) => {
      const asked = ofTask(task);
      return asked === null || !('kind' in launch) ? launch : { ...launch, command: commandOf(launch, asked) };
    },
    simulated: ({ run, at, taskId }) => {
      const asked = known.get(`run ${run}`);
      if (asked !== undefined) return isOutcome(asked, at) ? asked : null;
      return taskId === undefined ? null : ofTask(taskId);
    },
    // It is not begun after all: who starts it later wants itself.
    told: ({ subject, type }) => {
      if (subject.kind === 'component' && type === 'component.stopped') wanted.delete(subject.name);
    },
    addRun,
    addTask: (task, asked) => add(`task ${task}`, asked),
    removeRun: (run) => {
      if (known.delete(`run ${run}`)) save();
    },
    ofTask,
  };
}

function read(text: string | null): Map<string, Simulated> {
  try {
    return new Map(Object.entries(JSON.parse(text ?? '{}') as Table));
  } catch {
    return new Map();
  }
}

const commandOf = ({ cwd }: ProcessLaunch, { kind, memoryBytes }: Simulated): readonly string[] =>
  standIn(kind as StandInKind, cwd, memoryBytes).command;
