/** A target that is a container of the Docker Engine. While the Engine cannot be asked, nothing is known of its containers. */

import type { Clock } from '../../base/clock.ts';
import type { ExitCause } from '../../base/pure/exit.ts';
import type { ContainerObservation } from '../../docker/container-watch.ts';
import type { ContainerState, Engine } from '../../docker/ports.ts';
import { exitOf } from '../../docker/rules/exit.ts';
import { judgeHealth } from '../../docker/rules/judge.ts';
import type { Reporter } from '../../supervision/ports/driver.ts';
import type { HealthVerdict } from '../../supervision/rules/container-health.ts';
import { type FoundTarget, gone, type TargetObservation, type TargetWatch, there, unknown } from './target.ts';

/** All containers are asked about in one place. */
export const ENGINE = 'the Docker Engine';

export function containerTarget(name: string, engine: Engine): TargetWatch {
  return {
    failuresNeeded: 1,
    asks: ENGINE,
    look: async (known, signal) => {
      const inspection = await engine.inspect(name, signal);
      switch (inspection.kind) {
        case 'unreachable':
          return unknown(inspection.why);
        case 'missing':
          return gone(`there is no container "${name}"`);
        case 'found':
          return judge(`container "${name}"`, inspection.state, known);
        default:
          throw new Error(`no such inspection: ${JSON.stringify(inspection satisfies never)}`);
      }
    },
  };
}

function judge(who: string, state: ContainerState, known: FoundTarget | null): TargetObservation {
  // The Engine calls it running, too, while it is paused and while it waits to be restarted by its own policy.
  if (state.running && state.paused) return gone(`${who} is paused`);
  if (state.running && !state.restarting) {
    const found = { pid: state.pid, identity: `${state.id} since ${state.startedAt}` };
    if (known === null || known.identity === found.identity) return there(found);
    return gone(`${who} was started anew by somebody else, so nobody saw its exit code`);
  }
  return { kind: 'gone', cause: causeOf(who, state) };
}

/** Others start it: why they could not is told, and it is for them to try again. */
function causeOf(who: string, state: ContainerState): ExitCause {
  const cause = exitOf(who, state);
  return cause.kind === 'spawn-failed' ? { kind: 'unknown', why: cause.problem.message } : cause;
}

// What Docker's own health check says of a container that others run: told with its start, and whenever that changes.

export class DockerWord {
  readonly #clock: Clock;
  readonly #report: Reporter;
  #last: HealthVerdict = { status: 'none', reason: '' };
  #isUp = false;

  constructor(clock: Clock, report: Reporter) {
    this.#clock = clock;
    this.#report = report;
  }

  seen(observation: ContainerObservation): void {
    if (observation.kind !== 'found' || !observation.state.running) return; // of its end somebody else tells
    const verdict = judgeHealth(observation.state, observation.setup.healthCheck, this.#clock.wallNow());
    const isNews = verdict.status !== this.#last.status;
    this.#last = verdict;
    if (isNews && this.#isUp) this.#report({ kind: 'docker-health', verdict });
  }

  started(pid: number | null): void {
    this.#isUp = true;
    const health = this.#last.status === 'none' ? {} : { health: this.#last };
    this.#report({ kind: 'started', pid, at: this.#clock.now(), ...health });
    if (this.#last.status === 'unhealthy') this.#report({ kind: 'docker-health', verdict: this.#last });
  }
}
