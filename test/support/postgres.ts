/** A PostgreSQL of our own that can be killed and started again, with its data in a folder that goes with it. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { postgresBin, postgresUser } from './real-servers.ts';
import { tempDir } from './temp-dir.ts';
import { waitFor } from './wait-for.ts';

const run = promisify(execFile);

export const PASSWORD = 'tiger-8472-lily';

export interface PrivatePostgres extends AsyncDisposable {
  readonly port: number;
  /** For user keepwell, who may do everything. */
  readonly url: string;
  log(): string;
  /** As a power cut: connections break, and it recovers when it is started again. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** What `psql` would print: one value in each line, columns with a bar between them. */
  sql(text: string): Promise<string[]>;
}

/** `auth`: `trust` lets everybody in; `scram-sha-256` only whoever knows the password. */
export async function startPostgres(auth: 'trust' | 'scram-sha-256' = 'trust'): Promise<PrivatePostgres> {
  const bin = postgresBin()!;
  const user = postgresUser();
  const dir = tempDir();
  chmodSync(dir.path, 0o755);
  const home = dir.at('home');
  mkdirSync(home);
  writeFileSync(join(home, 'password'), PASSWORD, { mode: 0o644 });
  if (user) chownSync(home, user.uid, user.gid);
  const data = join(home, 'data');
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '--no-sync', '-A', auth, '-U', 'keepwell', '--pwfile', join(home, 'password')],
    { ...user, cwd: home, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const port = await freePort();
  const path = dir.at('log');
  let child: ChildProcess | null = null;
  const env = { ...process.env, PGPASSWORD: PASSWORD };
  const sql = async (text: string): Promise<string[]> => {
    const args = ['-h', '127.0.0.1', '-p', String(port), '-U', 'keepwell', '-d', 'postgres', '-XAtqc', text];
    const { stdout } = await run(join(bin, 'psql'), args, { env });
    return stdout.split('\n').filter((line) => line !== '');
  };
  const start = async () => {
    const log = openSync(path, 'a');
    const args = ['-D', data, '-p', String(port), '-k', home, '-h', '127.0.0.1', '-F'];
    child = spawn(join(bin, 'postgres'), args, { ...user, cwd: home, stdio: ['ignore', log, log] });
    closeSync(log);
    await waitFor('PostgreSQL to answer', () =>
      sql('select 1').then(
        () => true,
        () => false,
      ),
    );
  };
  const kill = async () => {
    const ended = child;
    if (ended === null) return;
    child = null;
    const gone = new Promise((resolve) => ended.once('exit', resolve));
    ended.kill('SIGQUIT');
    await gone;
  };
  await start();
  return {
    port,
    url: `postgres://keepwell:${PASSWORD}@127.0.0.1:${port}/postgres`,
    log: () => readFileSync(path, 'utf8'),
    ...{ start, kill, sql },
    [Symbol.asyncDispose]: async () => {
      await kill();
      dir[Symbol.dispose]();
    },
  };
}
