/** A place to watch real things from: drivers, runs with their reports, processes to be watched; nothing is left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterEach, expect } from 'vitest';
import type { Clock } from '../../../src/base/clock.ts';
import type { Log } from '../../../src/base/log.ts';
import { componentName, type RunId, runId, type WallMs } from '../../../src/base/pure/ids.ts';
import type { ContainerWatch } from '../../../src/docker/container-watch.ts';
import type { Engine } from '../../../src/docker/ports.ts';
import { createExternalDriver, type ExternalDriverOptions } from '../../../src/drivers/external/external-driver.ts';
import type { ExternalLaunch, RunReport } from '../../../src/supervision/ports/driver.ts';
import type { ExternalTarget } from '../../../src/supervision/spec.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fastClock, isThere, readText } from '../process/workshop.ts';
import { plainRunner } from './commands.ts';

type Kind = RunReport['kind'];
type Of<K extends Kind> = Extract<RunReport, { kind: K }>;
type Driver = ReturnType<typeof createExternalDriver>;

/** The real clock, ten times as fast, that counts how often somebody began to wait on it: a watch that waits has looked. */
export interface CountingClock extends Clock {
  readonly waits: number;
}

export function countingClock(factor = 10): CountingClock {
  const clock = fastClock(factor);
  let waits = 0;
  return {
    ...clock,
    get waits() {
      return waits;
    },
    sleepUntil: (at, signal) => {
      waits += 1;
      return clock.sleepUntil(at, signal);
    },
  };
}

/** Everything that was said in the daemon's log. */
export class RecordedLog implements Log {
  readonly lines: { readonly level: string; readonly message: string; readonly data: unknown }[] = [];
  readonly info = (message: string, data?: unknown) => void this.lines.push({ level: 'info', message, data });
  readonly warn = (message: string, data?: unknown) => void this.lines.push({ level: 'warn', message, data });
  readonly error = (message: string, data?: unknown) => void this.lines.push({ level: 'error', message, data });
}

const NO_ENGINE: Engine = {
  inspect: () => Promise.resolve({ kind: 'unreachable', why: 'there is none in this test' }),
};

/** Nobody tells of changes: everything is looked at again and again. */
const NO_EVENTS: ContainerWatch = {
  watch: () => ({ [Symbol.dispose]: () => {} }),
  blindness: 'there is none in this test',
  wasAway: () => false,
  hurry: () => {},
  close: () => Promise.resolve(),
};

export class Run {
  readonly reports: RunReport[] = [];
  readonly id: RunId = runId(componentName('legacy'), Date.now() as WallMs, Math.random());

  get kinds(): readonly Kind[] {
    return this.reports.map(({ kind }) => kind);
  }
  find<K extends Kind>(kind: K): Of<K> | undefined {
    return this.reports.find((report): report is Of<K> => report.kind === kind);
  }
  until<K extends Kind>(kind: K): Promise<Of<K>> {
    return waitFor(`${this.id} to report ${kind}`, () => this.find(kind));
  }
  /** Why it ended, for an end without a code. */
  async why(): Promise<string> {
    const { cause } = await this.until('exited');
    return cause.kind === 'unknown' ? cause.why : JSON.stringify(cause);
  }
}

export class Lookout {
  readonly dir = tempDir();
  readonly clock = countingClock();
  readonly log = new RecordedLog();
  readonly pidFile = this.dir.at('legacy.pid');
  readonly logPath = this.dir.at('legacy.log');
  readonly #drivers: Driver[] = [];
  readonly #children: ChildProcess[] = [];
  readonly #runs: Run[] = [];

  driver(options: Partial<ExternalDriverOptions> = {}): Driver {
    const clock = options.clock ?? this.clock;
    const { log } = this;
    const driver = createExternalDriver({
      ...{ clock, log, commands: plainRunner(clock), engine: NO_ENGINE, containers: NO_EVENTS },
      ...options,
    });
    this.#drivers.push(driver);
    return driver;
  }

  /** Watches the pid file of this lookout unless told otherwise. */
  start(driver: Driver, launch: Partial<ExternalLaunch> = {}): Run {
    const run = this.#newRun();
    const target: ExternalTarget = { kind: 'pid-file', path: this.pidFile };
    const whole: ExternalLaunch = {
      kind: 'external',
      run: run.id,
      component: componentName('legacy'),
      target,
      recover: null,
      attempt: 'first',
      cwd: this.dir.path,
      env: { PATH: '/usr/bin:/bin' },
      logPath: this.logPath,
      ...launch,
    };
    driver.start(whole, (report) => run.reports.push(report));
    expect(run.reports).toEqual([]); // never before start has returned
    return run;
  }

  adopt(driver: Driver, target: ExternalTarget = { kind: 'pid-file', path: this.pidFile }): Run {
    const run = this.#newRun();
    const spec = { kind: 'external', target, recover: ['false'], cwd: this.dir.path, env: {}, envFiles: [] } as const;
    driver.adopt(run.id, spec, (report) => run.reports.push(report));
    expect(run.reports).toEqual([]);
    return run;
  }

  /** Something that others started. */
  stranger(): ChildProcess & { readonly pid: number } {
    const child = spawn('sleep', ['300'], { stdio: 'ignore' });
    this.#children.push(child);
    return Object.assign(child, { pid: child.pid ?? 0 });
  }

  /** Ended with the test, whoever started it. */
  mine(child: ChildProcess): void {
    this.#children.push(child);
  }

  writePid(text: number | string): void {
    writeFileSync(this.pidFile, `${text}\n`);
  }
  /** What was written to the component's log so far. */
  readLog(): string {
    return readText(this.logPath);
  }

  /** Resolves when every watch has looked a few more times, so that what it would have reported is reported. */
  async looks(times = 4): Promise<void> {
    const enough = this.clock.waits + times;
    await waitFor('some more looks', () => this.clock.waits >= enough);
  }

  /** Lets what is due happen, promises and immediates included. */
  async turn(): Promise<void> {
    for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    await Promise.all(this.#drivers.map((driver) => driver.close()));
    for (const child of this.#children) child.kill('SIGKILL');
    const pids = this.#children.map(({ pid }) => pid ?? 0);
    await waitFor('all processes of the test to be gone', () => !pids.some(isThere));
    this.dir[Symbol.dispose]();
    for (const { kinds } of this.#runs) expect(kinds.filter((kind) => kind === 'exited').length).toBeLessThanOrEqual(1);
  }

  #newRun(): Run {
    const run = new Run();
    this.#runs.push(run);
    return run;
  }
}

/** A fresh lookout for each test of the file. */
export function lookout(): { readonly now: Lookout } {
  let current: Lookout | null = null;
  afterEach(async () => {
    await current?.close();
    current = null;
  });
  return {
    get now() {
      current ??= new Lookout();
      return current;
    },
  };
}
