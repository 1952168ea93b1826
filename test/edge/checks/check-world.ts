/** Checks with everything real but the Engine and the components: a directory of their own, gone with all they started. */

import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { NO_RUN, openAskingProber } from '../../../src/checks/ask.ts';
import type { CheckParts } from '../../../src/checks/kind.ts';
import type { FinishedCheck } from '../../../src/checks/observer.ts';
import { type RunOptions, runChecks } from '../../../src/checks/run-checks.ts';
import type { CheckQuestion, CheckSpec, HealthReport } from '../../../src/checks/spec.ts';
import type { ComponentView } from '../../../src/supervision/rules/views.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** Long enough for any machine, where a test is about something else. */
const PATIENT_MS = 60_000;

export class CheckWorld implements AsyncDisposable {
  readonly dir = tempDir();
  readonly finished: FinishedCheck[] = [];
  readonly reports: (HealthReport | null)[] = [];
  env: Record<string, string | undefined> = {};
  components: ComponentView[] = [];
  /** How long this process was not awake, as often as somebody asks. */
  stalledMs = 0;
  readonly #asking = openAskingProber({
    home: this.dir.path,
    base: { PATH: process.env['PATH'] ?? '', DIR: this.dir.path },
    secrets: [],
    log: silentLog,
  });

  get parts(): CheckParts {
    return {
      clock: systemClock,
      stalls: { attend: () => ({ [Symbol.dispose]: () => {} }), longestSince: () => this.stalledMs },
      whose: 'this test',
      env: this.env,
      prober: () => Promise.resolve(this.#asking.prober),
      engine: () => Promise.reject(new Error('there is no Engine in this test')),
      target: NO_RUN,
      components: () => Promise.resolve(this.components),
      observer: {
        reportStarted: () => ({
          checkFinished: (check) => void this.finished.push(check),
          reportFinished: (report) => void this.reports.push(report),
        }),
      },
    };
  }

  /** A shell command that sees `$DIR`. */
  sh(name: string, script: string, more: Partial<CheckSpec> = {}): CheckSpec {
    const command = ['/bin/sh', '-c', script];
    return this.check(name, { kind: 'probe', question: { kind: 'exec', command, cwd: this.dir.path } }, more);
  }

  check(name: string, question: CheckQuestion, more: Partial<CheckSpec> = {}): CheckSpec {
    return { name, question, needs: [], hint: null, timeoutMs: PATIENT_MS, ...more };
  }

  run(specs: readonly CheckSpec[], options: Partial<RunOptions> = {}): Promise<HealthReport> {
    return runChecks(specs, this.parts, { signal: new AbortController().signal, ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#asking.close();
    this.dir[Symbol.dispose]();
  }
}
