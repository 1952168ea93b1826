/** Which runs and tasks are rehearsals. It outlives the daemon: a crash that is found by the next one is marked all the same. */

import type { RunId } from '../base/pure/ids.ts';
import type { Store } from '../history/ports.ts';
import type { Simulated } from '../supervision/rules/simulation.ts';

export interface Rehearsals {
  /** The next run of the component is to be a stand-in. */
  want(component: string, asked: Simulated): void;
  /** What the run that begins now is to be; null: itself. Once. */
  due(component: string): Simulated | null;
  /** It is not begun after all: who starts it later wants itself. */
  unwant(component: string): void;
  addRun(run: RunId, asked: Simulated): void;
  addTask(task: string, asked: Simulated): void;
  /** Nothing was done to it. */
  removeRun(run: RunId): void;
  ofRun(run: RunId): Simulated | null;
  ofTask(task: string): Simulated | null;
}

const META = 'simulations';
/** Nobody rehearses that often; the oldest are forgotten. */
const MAX_KNOWN = 100;

type Table = Record<string, Simulated>;

export function rehearsals(store: Pick<Store, 'meta' | 'setMeta'>): Rehearsals {
  const wanted = new Map<string, Simulated>();
  const known = read(store.meta(META));
  const save = (): void => store.setMeta(META, JSON.stringify(Object.fromEntries(known)));
  const add = (key: string, asked: Simulated): void => {
    known.delete(key);
    known.set(key, asked);
    for (const oldest of [...known.keys()].slice(0, -MAX_KNOWN)) known.delete(oldest);
    save();
  };
  return {
    want: (component, asked) => void wanted.set(component, asked),
    due: (component) => {
      const asked = wanted.get(component) ?? null;
      wanted.delete(component);
      return asked;
    },
    unwant: (component) => void wanted.delete(component),
    addRun: (run, asked) => add(`run ${run}`, asked),
    addTask: (task, asked) => add(`task ${task}`, asked),
    removeRun: (run) => {
      if (known.delete(`run ${run}`)) save();
    },
    ofRun: (run) => known.get(`run ${run}`) ?? null,
    ofTask: (task) => known.get(`task ${task}`) ?? null,
  };
}

function read(text: string | null): Map<string, Simulated> {
  try {
    return new Map(Object.entries(JSON.parse(text ?? '{}') as Table));
  } catch {
    return new Map();
  }
}
