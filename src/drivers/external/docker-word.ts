/** What Docker's own health check says of a container that others run: told with its start, and whenever that changes. */
import type { HealthVerdict } from '../../supervision/rules/container-health.ts';
import { judgeHealth } from '../../docker/rules/judge.ts';
import type { Clock } from '../../base/clock.ts';
import type { ContainerSight } from '../../docker/container-watch.ts';
import type { Reporter } from '../../supervision/ports/driver.ts';

export class DockerWord {
  readonly #clock: Clock;
  readonly #report: Reporter;
  #last: HealthVerdict = { status: 'none', reason: '' };
  #isUp = false;

  constructor(clock: Clock, report: Reporter) {
    this.#clock = clock;
    this.#report = report;
  }

  seen(sight: ContainerSight): void {
    if (sight.kind !== 'found' || !sight.state.running) return; // of its end somebody else tells
    const verdict = judgeHealth(sight.state, sight.setup.healthCheck, this.#clock.wallNow());
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
