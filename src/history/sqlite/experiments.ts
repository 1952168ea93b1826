/**
 * The book of campaigns: a connection of its own to the project's database, beside that of a daemon that may run. A write waits for
 * the daemon's, which are short; nobody's event loop is waiting for us.
 */
import { AppError } from '../../base/pure/errors.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import { type Database, loadSqlite, type Row, type Statement } from '../../base/sqlite.ts';
import type { CampaignBook, CampaignRecord, NewCampaign } from '../../campaigns/ports.ts';
import type { Experiment, OpenAttempt, Write } from '../../campaigns/rules/state.ts';
import { EXPERIMENTS, headOf } from '../campaigns.ts';
import { num, str, text, textOrNull, wholeOrNull } from '../cells.ts';
import { CRASHES } from '../crashes.ts';
import { createPrivately, inodeOf } from './connection.ts';
import { migrate, transaction } from './migrations.ts';
import { problemOf } from './problem.ts';
import { upsertSql } from './rows.ts';

const BUSY_TIMEOUT_MS = 10_000;

const SETTINGS = `
PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
`;

const SQL = {
  campaigns: 'SELECT * FROM campaigns ORDER BY id DESC',
  campaign: 'SELECT * FROM campaigns WHERE name = $name',
  experiments: 'SELECT * FROM experiments WHERE campaign_id = $id ORDER BY position',
  open: 'SELECT * FROM experiment_attempts WHERE campaign_id = $id AND ended_at IS NULL ORDER BY begun_at DESC LIMIT 1',
  create: `INSERT INTO campaigns (uid, name, file, source, compose_file, project_dir, state, created_at)
    VALUES ($uid, $name, $file, $source, $compose_file, $project_dir, 'running', $at)`,
  add: `INSERT INTO experiments (campaign_id, position, name, service, state)
    VALUES ((SELECT id FROM campaigns WHERE name = $campaign), $position, $name, $service, 'pending')`,
  // Written again without harm: a write that was repeated because nobody knew whether it had got through.
  begun: `INSERT INTO experiment_attempts (attempt, campaign_id, position, number, container, begun_at)
    VALUES ($attempt, $id, $position, $number, $container, $at) ON CONFLICT (attempt) DO NOTHING`,
  over: `UPDATE experiment_attempts SET ended_at = $at, outcome = $outcome, exit_code = $exit_code, duration_ms = $duration_ms,
    reason = $reason WHERE attempt = $attempt AND ended_at IS NULL`,
  // An experiment has one final result: whoever comes later with another one is not heard.
  experiment: `UPDATE experiments SET state = $state, attempts = $attempts, failures = $failures, exit_code = $exit_code,
    duration_ms = $duration_ms, reason = $reason
    WHERE campaign_id = $id AND position = $position AND state NOT IN ('done', 'failed')`,
  crash: upsertSql(CRASHES),
  ended: 'UPDATE campaigns SET state = $state, reason = $reason, ended_at = $at WHERE id = $id',
  discard: 'DELETE FROM campaigns WHERE id = $id',
  running: "UPDATE campaigns SET state = 'running', reason = NULL, ended_at = NULL WHERE id = $id",
  up: 'UPDATE campaigns SET may_be_up = $up WHERE id = $id',
} as const;

type Run = (name: keyof typeof SQL, values: Row) => void;

/** Throws an AppError: the disk, another process, a later version of the database. */
export async function openCampaignBook(path: string): Promise<CampaignBook> {
  const sqlite = await loadSqlite();
  const explained = explaining(path);
  const db = explained(() => {
    createPrivately(path);
    return sqlite.open(path, 'read-write');
  });
  try {
    return explained(() => {
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      migrate(db);
      db.exec(SETTINGS);
      return book(db, path, explained);
    });
  } catch (error) {
    db.close();
    throw error;
  }
}

type Explaining = <T>(work: () => T) => T;

const explaining =
  (path: string): Explaining =>
  (work) => {
    try {
      return work();
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError('CAMPAIGN_BOOK', { path, problem: problemOf(error).words }, { cause: error });
    }
  };

function book(db: Database, path: string, explained: Explaining): CampaignBook {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)] as const);
  const statements = Object.fromEntries(prepared) as Record<keyof typeof SQL, Statement>;
  const inode = inodeOf(path);
  const run: Run = (name, values) => void statements[name].run(values);
  const record = (row: Row): CampaignRecord => {
    const id = num(row['id']);
    return recordOf(row, statements.experiments.all({ id }), statements.open.get({ id }));
  };
  const find = (name: string): CampaignRecord | null => {
    const row = statements.campaign.get({ name: text(name) });
    return row ? record(row) : null;
  };
  const change = (work: () => void): void =>
    explained(() => {
      // A daemon that found it damaged has set it aside: what is written into that file, nobody reads.
      if (inodeOf(path) !== inode) throw new AppError('CAMPAIGN_BOOK', { path, problem: 'the file was replaced' });
      transaction(db, work);
    });
  return {
    create: ({ experiments, ...campaign }, at) => {
      const { name } = campaign;
      if (find(name) !== null) throw new AppError('CAMPAIGN_EXISTS', { name });
      change(() => {
        run('create', createdRow(campaign, at));
        experiments.forEach((one, position) => {
          run('add', { campaign: text(name), position, name: text(one.name), service: text(one.service) });
        });
      });
      return find(name)!;
    },
    find: (name) => explained(() => find(name)),
    list: () => explained(() => statements.campaigns.all().map(record)),
    write: (id, writes, at, crash) =>
      change(() => {
        for (const write of writes) put(run, id, write, at);
        if (crash) run('crash', CRASHES.row(crash, at));
      }),
    discard: (id) => change(() => run('discard', { id })),
    mark: (id, { state, mayBeUp }) =>
      change(() => {
        if (state) run('running', { id });
        if (mayBeUp !== undefined) run('up', { id, up: mayBeUp ? 1 : 0 });
      }),
    close: () => db.close(),
  };
}

function put(run: Run, id: number, write: Write, at: WallMs): void {
  if (write.kind === 'attempt-begun') run('begun', { id, at, ...write.open });
  else if (write.kind === 'attempt-over') run('over', overRow(write, at));
  else if (write.kind === 'experiment') run('experiment', experimentRow(id, write.position, write.experiment));
  else run('ended', { id, at, state: write.state, reason: textOrNull(write.reason) });
}

// Campaigns in and out of their rows.

const openAttemptOf = (row: Row): OpenAttempt => ({
  position: num(row['position']),
  attempt: str(row['attempt']),
  number: num(row['number']),
  container: str(row['container']),
});

const recordOf = (row: Row, experiments: readonly Row[], open: Row | undefined): CampaignRecord => ({
  id: num(row['id']),
  uid: str(row['uid']),
  ...headOf(row),
  source: str(row['source']),
  composeFile: str(row['compose_file']),
  projectDir: str(row['project_dir']),
  mayBeUp: num(row['may_be_up']) === 1,
  experiments: experiments.map(EXPERIMENTS.item),
  open: open ? openAttemptOf(open) : null,
  openSince: open ? (num(open['begun_at']) as WallMs) : null,
});

const experimentRow = (id: number, position: number, one: Experiment): Row => ({
  ...{ id, position, state: one.state, attempts: one.attempts, failures: one.failures },
  ...{ exit_code: one.exitCode, duration_ms: wholeOrNull(one.durationMs), reason: textOrNull(one.reason) },
});

const overRow = (over: Extract<Write, { kind: 'attempt-over' }>, at: WallMs): Row => ({
  ...{ at, attempt: over.open.attempt, outcome: over.outcome, exit_code: over.exitCode },
  ...{ duration_ms: wholeOrNull(over.durationMs), reason: textOrNull(over.reason) },
});

const createdRow = (campaign: NewCampaign, at: WallMs): Row => ({
  ...{ uid: campaign.uid, name: text(campaign.name), file: text(campaign.file), source: text(campaign.source) },
  ...{ compose_file: text(campaign.composeFile), project_dir: text(campaign.projectDir), at },
});
