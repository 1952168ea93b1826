/** Docker Compose for compose components: one call at a time for each project, for two would make the same container twice. */

import type { Clock } from '../base/clock.ts';
import { createTurns, type Turns } from '../base/semaphore.ts';
import { killMarked } from '../docker/exec/exec.ts';
import { type ComposeProject, composeProject } from './cli/project.ts';
import type { Composer } from './ports.ts';

/** `env`: what Compose sees, and with it the variables in compose files. */
export function createComposer(env: Readonly<Record<string, string>>, clock: Clock): Composer {
  const known = new Map<string, ComposeProject>();
  const turnsOf = new Map<string, Turns>();
  return {
    project: (place, fresh) => {
      const key = JSON.stringify([place.file, place.projectDir]);
      const turns = turnsOf.get(place.projectDir) ?? createTurns(1);
      turnsOf.set(place.projectDir, turns);
      const kept = fresh ? undefined : known.get(key);
      const compose = kept ?? composeProject({ clock, env, endMarked: killMarked }, place);
      return {
        name: async (signal) => {
          const { name } = await compose.open(signal);
          known.set(key, compose); // a file that is broken by now does not make us forget
          return name;
        },
        up: async (service, options, signal) => {
          const giveBack = await turns.take(signal);
          try {
            await compose.up([service], options, signal);
          } finally {
            giveBack();
          }
        },
      };
    },
  };
}
