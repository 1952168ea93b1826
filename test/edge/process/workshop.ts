/** A place to run real processes in: drivers on a temporary home, runs with their reports, and nothing left behind. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { type ComponentName, componentName, type RunId, runId, type WallMs } from '../../../src/base/pure/ids.ts';
import { possibleHomes } from '../../../src/drivers/process/limits/homes.ts';
import { createProcessDriver, type ProcessDriverOptions } from '../../../src/drivers/process/process-driver.ts';
import type { ProcessDriver, ProcessLaunch, RunReport } from '../../../src/supervision/ports/driver.ts';
import { waitFor } from '../../support/wait-for.ts';

/** With which shim this file is run: every test of the driver is run with both, see vitest.config.ts. */
export const SHIM = process.env['KEEPWELL_TEST_SHIM'] === 'sh' ? 'sh' : 'native';

/** What a cause says in addition where the shim is native. */
export const USED = SHIM === 'sh' ? {} : { usage: { maxRssBytes: expect.any(Number), cpuMs: expect.any(Number) } };

type Kind = RunReport['kind'];
/** A process always has a pid. */
type Of<K extends Kind> = Extract<RunReport, { kind: K }> & (K extends 'started' ? { readonly pid: number } : unknown);

/** One run and all that was reported about it. */
export class Run {
  readonly reports: RunReport[] = [];
  readonly id: RunId;
  readonly logPath: string;
  readonly dir: string;

  constructor(id: RunId, { home, state }: { readonly home: string; readonly state: string }) {
    this.id = id;
    this.dir = join(state, 'runs', id);
    this.logPath = join(home, 'logs', `${id}.log`);
  }

  get kinds(): readonly Kind[] {
    return this.reports.map(({ kind }) => kind);
  }
  /** Who claimed it; empty while nobody has. */
  get claim(): string {
    try {
      return readlinkSync(join(this.dir, 'claim'));
    } catch {
      return '';
    }
  }
  log(): string {
    return readText(this.logPath);
  }
  find<K extends Kind>(kind: K): Of<K> | undefined {
    return this.reports.find((report): report is Of<K> => report.kind === kind);
  }
  async until<K extends Kind>(kind: K): Promise<Of<K>> {
    try {
      return await waitFor(`${this.id} to report ${kind}`, () => this.find(kind));
    } catch (error) {
      const pids = [this.find('started')?.pid ?? 0, ...shimsOf(this.id)];
      const stats = pids.map((pid) => readText(`/proc/${pid}/stat`).trim());
      throw new Error(
        `${String(error)}; it reported ${JSON.stringify(this.reports)}, its processes: ${stats.join('; ')}`,
      );
    }
  }
  /** A line of the log, once it is complete. */
  async line(pattern: RegExp): Promise<string> {
    const complete = (): string | undefined =>
      this.log()
        .split('\n')
        .slice(0, -1)
        .find((line) => pattern.test(line));
    return waitFor(`a line like ${pattern} in the log of ${this.id}`, complete);
  }
  /** The pid of its shim, from the claim in /proc: it is the only process with the run id among its arguments. */
  async shim(): Promise<number> {
    return waitFor(`the shim of ${this.id}`, () => shimsOf(this.id)[0]);
  }
  /** Resolves when a driver has its FIFO open. */
  async takenOver(): Promise<void> {
    const fifo = join(this.dir, 'fifo');
    await waitFor(`${this.id} to be taken over`, () => ownFiles().includes(fifo));
  }
  /** Its shim dawdles as `shimDelay` says, however long, and goes on now. */
  async goOn(): Promise<void> {
    const shim = await this.shim();
    if (/\(keepwell-shim\)/.test(readText(`/proc/${shim}/stat`))) {
      process.kill(shim, 'SIGALRM'); // also when it does not dawdle yet: it is kept for then
      return;
    }
    const isPause = (pid: number): boolean =>
      new RegExp(`^\\d+ \\(sleep\\) \\S ${shim} `).test(readText(`/proc/${pid}/stat`));
    const pause = await waitFor(`the shim of ${this.id} to dawdle`, () => pids().find(isPause));
    process.kill(pause, 'SIGPIPE'); // of which no shell says a word: what it says is taken for the end of the command
  }
}

export class Workshop {
  readonly home = mkdtempSync(join(tmpdir(), 'keepwell-process-'));
  /** Where the driver keeps its state. */
  state = this.home;
  readonly #cleanups: (() => void)[] = [];
  readonly #drivers: ProcessDriver[] = [];
  readonly #runs: Run[] = [];

  driver(options: Partial<ProcessDriverOptions> = {}): ProcessDriver {
    const driver = createProcessDriver({
      home: this.home,
      runsDir: join(this.state, 'runs'),
      trashDir: join(this.state, 'trash'),
      clock: systemClock,
      failpoints: noFailpoints,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      softNofile: null,
      shim: SHIM === 'sh' || options.shell !== undefined ? 'sh' : 'auto',
      ...options,
    });
    this.#drivers.push(driver);
    return driver;
  }

  /** Starts a command; a string is a script for sh. `seen`: called in the moment of each report. */
  start(
    driver: ProcessDriver,
    command: string | readonly string[],
    launch: Partial<ProcessLaunch> = {},
    seen: (run: Run, report: RunReport) => void = () => {},
  ): Run {
    const run = this.run();
    driver.start(
      {
        run: run.id,
        component: 'api' as ComponentName,
        command: typeof command === 'string' ? ['/bin/sh', '-c', command] : command,
        cwd: this.home,
        kind: 'process',
        env: { PATH: '/usr/bin:/bin' },
        logPath: run.logPath,
        specHash: 'spec',
        ...launch,
      },
      (report) => {
        run.reports.push(report);
        seen(run, report);
      },
    );
    return run;
  }

  /** The same run, seen by another driver. */
  adopt(driver: ProcessDriver, run: Run): Run {
    const again = new Run(run.id, this);
    driver.adopt(run.id, (report) => again.reports.push(report));
    return again;
  }

  run(): Run {
    const run = new Run(runId(componentName('api'), Date.now() as WallMs, Math.random()), this);
    this.#runs.push(run);
    return run;
  }

  /** Directories of runs, finished and half-made: not what the driver keeps for all of them. */
  runDirs(): readonly string[] {
    return readdirSync(join(this.state, 'runs')).filter((name) => !/^\.(fifos|new-[0-9a-f]{16})$/.test(name));
  }

  path(name: string): string {
    return join(this.home, name);
  }

  dir(name: string): string {
    mkdirSync(this.path(name), { recursive: true });
    return this.path(name);
  }

  /** Done after all processes have ended and before the files are deleted. */
  finally(cleanup: () => void): void {
    this.#cleanups.unshift(cleanup);
  }

  /** Ends everything the test made and asserts that it is gone. */
  async close(): Promise<void> {
    for (const driver of this.#drivers) await driver.close();
    const last = this.driver();
    const found = last.found().map(({ run }) => this.adopt(last, new Run(run, this)));
    for (const run of found) last.killTree(run.id);
    for (const run of found) await waitFor(`${run.id} to be over`, () => isOver(run));
    for (const run of found) last.release(run.id);
    await last.close();
    const ids = new Set<string>(this.#runs.map(({ id }) => id));
    await waitFor('no process of any run to be left', () => processesOf(ids).length === 0);
    for (const cleanup of this.#cleanups) cleanup();
    rmSync(this.home, { recursive: true, force: true });
    expect(cgroupsOf(ids)).toEqual([]);
    expect(possibleHomes(this.home).filter((path) => existsSync(path))).toEqual([]);
  }
}

/** A fresh workshop for each test of the file. */
export function workshop(): { readonly now: Workshop } {
  let current: Workshop | null = null;
  afterEach(async () => {
    await current?.close();
    current = null;
  });
  return {
    get now() {
      current ??= new Workshop();
      return current;
    },
  };
}

function isOver({ reports }: Run): boolean {
  const last = reports.find((report) => report.kind === 'exited' || report.kind === 'spawn-failed');
  if (last?.kind !== 'exited') return last !== undefined;
  return last.leftovers.length === 0 || reports.some(({ kind }) => kind === 'tree-gone');
}

/** The real clock at many times its speed: intervals and limits come sooner, their order stays. */
export function fastClock(factor: number): Clock {
  return {
    wallNow: () => systemClock.wallNow(),
    now: () => (systemClock.now() * factor) as ReturnType<Clock['now']>,
    bootId: systemClock.bootId,
    sleepUntil: (at, signal) => systemClock.sleepUntil((at / factor) as typeof at, signal),
  };
}

export const pids = (): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);

/** What this process has open. */
const ownFiles = (): readonly string[] =>
  readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ''; // the listing's own, closed by now
    }
  });

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export const shimsOf = (run: string): readonly number[] =>
  pids().filter((pid) => readText(`/proc/${pid}/cmdline`).split('\0').includes(run) && pid !== process.pid);

export const isThere = (pid: number): boolean => /\) [^ZX]/.test(readText(`/proc/${pid}/stat`));

/** Shims and carriers of the cookie. */
const processesOf = (runs: ReadonlySet<string>): readonly number[] =>
  pids().filter((pid) => {
    const words = readText(`/proc/${pid}/cmdline`).split('\0');
    const cookie = /(?:^|\0)KEEPWELL_RUN=([^\0]*)/.exec(readText(`/proc/${pid}/environ`))?.[1] ?? '';
    return isThere(pid) && (runs.has(cookie) || words.some((word) => runs.has(word)));
  });

function cgroupsOf(runs: ReadonlySet<string>): readonly string[] {
  const mount = /^\S+ \S+ \S+ \S+ (\S+) .*- cgroup2 /m.exec(readText('/proc/self/mountinfo'))?.[1];
  if (!mount) return [];
  const own = /^0::(.*)$/m.exec(readText('/proc/self/cgroup'))?.[1] ?? '/';
  const homes = readdirSync(join(mount, own)).filter((name) => name.startsWith('keepwell-'));
  return homes.flatMap((home) => {
    try {
      return readdirSync(join(mount, own, home)).filter((name) => runs.has(name));
    } catch {
      return []; // another test's, gone meanwhile
    }
  });
}
