/** Docker Compose for compose components: one call at a time for each project, for two would make the same container twice. */

import type { Clock } from '../base/clock.ts';
import { createSemaphore, type Semaphore } from '../base/semaphore.ts';
import { killMarked } from '../docker/exec/exec.ts';
import { type ComposeProject, composeProject } from './cli/project.ts';
import type { Composer } from './ports.ts';

/** `env`: what Compose sees, and with it the variables in compose files. */
export function createComposer(env: Readonly<Record<string, string>>, clock: Clock): Composer {
  const known = new Map<string, ComposeProject>();
  const semaphoreOf = new Map<string, Semaphore>();
  return {
    project: (place, fresh) => {
      const key = JSON.stringify([place.file, place.projectDir]);
      const semaphore = semaphoreOf.get(place.projectDir) ?? createSemaphore(1);
      semaphoreOf.set(place.projectDir, semaphore);
      const kept = fresh ? undefined : known.get(key);
      const compose = kept ?? composeProject({ clock, env, endMarked: killMarked }, place);
      return {
        name: async (signal) => {
          const { name } = await compose.open(signal);
          known.set(key, compose); // a file that is broken by now does not make us forget
          return name;
        },
        up: async (service, options, signal) => {
          const giveBack = await semaphore.take(signal);
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
