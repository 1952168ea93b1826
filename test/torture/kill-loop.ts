/** The kill loop: the daemon dies again and again, the components keep their own books, and afterwards the two must agree. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FAILPOINTS } from '../../src/base/failpoints.ts';
import type { History } from '../../src/history/ports.ts';
import { openHistory } from '../../src/history/sqlite/history.ts';
import { ENTRY, kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

export interface KillLoopOptions {
  readonly kills: number;
  readonly components: number;
  /** Seconds the shim waits before its claim, as when the machine is overloaded; null: no delay. */
  readonly shimDelay: string | null;
  /** Who starts runs; absent: the native launcher, and sometimes it is the launcher that is killed. */
  readonly shim?: 'sh';
  /** 'random': half of the daemons die at a random step of their own. A list: the nth daemon gets the nth entry. */
  readonly failpoints: 'none' | 'random' | readonly string[];
  report?(line: string): void;
}

export interface Verdict {
  readonly kills: number;
  readonly runs: number;
  readonly adopted: number;
  readonly revoked: number;
  readonly lost: readonly string[];
  readonly wrong: readonly string[];
  readonly doubled: readonly string[];
  readonly tornLogs: readonly string[];
}

export async function killLoop(options: KillLoopOptions): Promise<Verdict> {
  const names = Array.from({ length: options.components }, (_, i) => `c${i}`);
  await using project = new TestProject(config(names));
  let kills = 0;
  // How long a daemon may live: a busy machine takes longer over everything, and one that is killed before it did anything shows nothing.
  let spanMs = 700;
  while (kills < options.kills) {
    const daemon = startDaemon(project, options, kills);
    const died = ended(daemon);
    const begunAt = performance.now();
    // A random moment is the point here: most often when it is up, sometimes while it is still coming up.
    if (Math.random() < 0.75) {
      await Promise.race([died, waitFor('the daemon to be up', () => project.daemonPid() === daemon.pid)]);
      spanMs = Math.max(700, performance.now() - begunAt);
    }
    await Promise.race([died, delay(Math.random() * spanMs)]);
    if (kills % 3 === 0) await killLauncher(daemon.pid, died);
    daemon.kill('SIGKILL');
    await died;
    kills += 1;
    if (kills % 50 === 0) options.report?.(`${kills} kills`);
  }
  return await settle(project, names, kills); // awaited here: the project must live until the books are compared
}

function failpointFor({ failpoints }: KillLoopOptions, nth: number): string {
  if (failpoints === 'none') return '';
  if (failpoints !== 'random') return failpoints[nth] ?? '';
  const name = FAILPOINTS[Math.floor(Math.random() * FAILPOINTS.length)]!;
  return Math.random() < 0.5 ? `${name}=crash@${1 + Math.floor(Math.random() * 20)}` : '';
}

function startDaemon(project: TestProject, options: KillLoopOptions, nth: number): ChildProcess {
  const env: Record<string, string> = { KEEPWELL_FAILPOINTS: failpointFor(options, nth) };
  if (options.shim !== undefined) env['KEEPWELL_SHIM'] = options.shim;
  if (options.shimDelay !== null) env['KEEPWELL_SHIM_DELAY'] = options.shimDelay;
  return spawn(process.execPath, [ENTRY, 'daemon'], {
    cwd: project.dir,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
}

const pids = (): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // gone meanwhile
  }
}

/** Some of the daemons lose their launcher first, and begin the next runs themselves. */
async function killLauncher(daemon: number | undefined, died: Promise<void>): Promise<void> {
  // By its parent: its forks are called the same until they are shims.
  const isLauncher = new RegExp(`\\(keepwell-launch\\) \\S ${daemon} `);
  for (const pid of pids()) if (isLauncher.test(readText(`/proc/${pid}/stat`))) kill(pid);
  await Promise.race([died, delay(Math.random() * 200)]);
}

const ended = (daemon: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => daemon.once('exit', () => resolve()).once('error', reject));

/** A last daemon takes over what is left, everything is stopped in good order, and the books are compared. */
async function settle(project: TestProject, names: readonly string[], kills: number): Promise<Verdict> {
  const last = startDaemon(project, { kills, components: names.length, shimDelay: null, failpoints: 'none' }, kills);
  const end = ended(last);
  await waitFor(
    'the last daemon to answer',
    async () => (await project.cli('-o', 'json', 'status')).stdout.includes('"answers": true') || null,
  );
  await project.ok('stop', '--all');
  last.kill('SIGTERM');
  await end;
  return compare(project, names, kills);
}

async function compare(project: TestProject, names: readonly string[], kills: number): Promise<Verdict> {
  const history = await openHistory(`${project.home}/keepwell.db`);
  const books = { lost: [] as string[], wrong: [] as string[], doubled: [] as string[], tornLogs: [] as string[] };
  let runs = 0;
  let revoked = 0;
  for (const name of names) {
    const rows = history.runs({ component: name, limit: 1_000_000 });
    const ledger = readLedger(project, name);
    runs += ledger.length;
    revoked += rows.filter(({ exit }) => exit?.spawn_error != null).length;
    ledger.forEach(({ run, end }, at) => {
      const row = rows.find((each) => each.run === run);
      const isLast = at === ledger.length - 1;
      if (!row?.exit)
        books.lost.push(`${run}: ledger says ${end ?? 'running'}, the history says ${row ? 'not ended' : 'nothing'}`);
      else if (end === null && !(isLast && row.planned))
        books.doubled.push(`${run} was still alive when the next run began`);
      else if (end !== null && end !== said(row.exit))
        books.wrong.push(`${run}: ledger ${end}, history ${said(row.exit)}`);
    });
    compareCrashes(history, name, ledger, books);
    const begun = new Set(ledger.map(({ run }) => run));
    if (begun.size !== ledger.length) books.doubled.push(`${name}: one run id began twice`);
    const log = project.log(name);
    for (const { run, end } of ledger) {
      if (end !== null && !(log.includes(`run ${run} says hello\n`) && log.includes(`run ${run} says bye\n`)))
        books.tornLogs.push(run);
    }
    for (const row of rows) {
      const beganByLedger = begun.has(row.run);
      if (!beganByLedger && row.exit?.spawn_error == null && !row.planned)
        books.wrong.push(`${row.run}: the history knows a run that never began (${JSON.stringify(row.exit)})`);
    }
  }
  const adopted = (readFileSync(`${project.home}/daemon.log`, 'utf8').match(/"the daemon is up"/g) ?? []).length;
  history.close();
  return { kills, runs, adopted, revoked, ...books };
}

/** Every crash has one record, with what that run wrote and nobody else. */
function compareCrashes(
  history: History,
  component: string,
  ledger: readonly { readonly run: string; readonly end: string | null }[],
  books: { readonly lost: string[]; readonly wrong: string[]; readonly doubled: string[] },
): void {
  const crashes = history.crashes({ component, limit: 1_000_000 });
  const crashed = history
    .runs({ component, limit: 1_000_000 })
    .filter(
      ({ run, good, planned }) => good === false && !planned && ledger.some((each) => each.run === run && each.end),
    );
  for (const { run } of crashed) {
    const [crash, ...others] = crashes.filter(({ run_id }) => run_id === run);
    const told = crash && history.why({ id: crash.id });
    if (!told) books.lost.push(`${run}: it crashed, and there is no record of that crash`);
    if (others.length > 0) books.doubled.push(`${run}: there are ${others.length + 1} records of its crash`);
    const written = [`run ${run} says hello`, `run ${run} says bye`];
    if (told && told.log_tail.join('\n') !== written.join('\n'))
      books.wrong.push(`${run}: the record of its crash has the lines ${JSON.stringify(told.log_tail)}`);
  }
}

const said = (exit: { readonly code: number | null; readonly signal: string | null }): string =>
  exit.signal !== null ? `signal ${exit.signal}` : exit.code !== null ? `code ${exit.code}` : 'unknown';

function readLedger(
  project: TestProject,
  name: string,
): readonly { readonly run: string; readonly end: string | null }[] {
  const runs: { run: string; end: string | null }[] = [];
  for (const line of project.read(`ledger-${name}`).split('\n').filter(Boolean)) {
    const [what, run, ...rest] = line.split(' ');
    if (what === 'begin') runs.push({ run: run!, end: null });
    else {
      const begun = runs.find((each) => each.run === run);
      if (begun) begun.end = rest.join(' ');
    }
  }
  return runs;
}

function config(names: readonly string[]): string {
  const worker = resolve('test/torture/worker.sh');
  const each = names.map(
    (name) => `  ${name}:
    process: { command: [sh, ${worker}, ./ledger-${name}] }
    min_uptime: 0s
    stop: { grace: 2s }
    restart: { policy: always, backoff: { initial: 0s, max: 0s, jitter: 0 }, limit: { max: 1000000, within: 1s } }`,
  );
  return `components:\n${each.join('\n')}\n`;
}
