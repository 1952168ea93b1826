/**
 * Servers as Debian has them, each on a free port with a folder of its own and everything it writes in one file. Where a package is
 * missing, the tests that need it are skipped and say so.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { tempDir } from './temp-dir.ts';
import { waitFor } from './wait-for.ts';

export interface RealServer extends AsyncDisposable {
  readonly port: number;
  /** Everything it has written so far. */
  log(): string;
  /** Kills it and gives everything that it has ever written. */
  end(): Promise<string>;
}

interface Recipe {
  /** Null: it is not installed. */
  readonly program: string | null;
  readonly package: string;
  /** What to run; `dir` is its own and empty. */
  command(program: string, dir: string, port: number): readonly string[];
}

const find = (program: string): string | null =>
  spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim() || null;

/** The newest of those installed; Debian does not have them in the path. */
export function postgresBin(): string | null {
  const home = '/usr/lib/postgresql';
  const versions = existsSync(home) ? readdirSync(home).sort((a, b) => Number(b) - Number(a)) : [];
  const bins = versions.map((version) => join(home, version, 'bin'));
  return bins.find((bin) => existsSync(join(bin, 'initdb'))) ?? null;
}

const NGINX_CONF = (dir: string, port: number): string => `
daemon off; master_process off; error_log stderr notice; pid ${dir}/nginx.pid;
events {}
http {
  access_log off; client_body_temp_path ${dir}/a; proxy_temp_path ${dir}/b; fastcgi_temp_path ${dir}/c;
  uwsgi_temp_path ${dir}/d; scgi_temp_path ${dir}/e;
  server { listen 127.0.0.1:${port}; root ${dir}; autoindex on; }
}`;

const RECIPES = {
  PostgreSQL: {
    program: postgresBin(),
    package: 'postgresql',
    command: (bin, dir, port) => {
      const user = postgresUser();
      const data = join(dir, 'data');
      if (user) chownSync(dir, user.uid, user.gid);
      const made = spawnSync(join(bin, 'initdb'), ['-D', data, '--no-sync', '-A', 'trust'], {
        ...user,
        cwd: dir,
        encoding: 'utf8',
      });
      if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
      return [join(bin, 'postgres'), '-D', data, '-p', String(port), '-k', dir, '-h', '127.0.0.1', '-F'];
    },
  },
  memcached: {
    program: find('memcached'),
    package: 'memcached',
    command: (program, _dir, port) => [program, '-v', '-u', 'nobody', '-l', '127.0.0.1', '-p', String(port)],
  },
  redis: {
    program: find('redis-server'),
    package: 'redis-server',
    command: (program, dir, port) => [
      program,
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      dir,
      '--save',
      '',
    ],
  },
  nginx: {
    program: find('nginx'),
    package: 'nginx-light',
    command: (program, dir, port) => {
      writeFileSync(join(dir, 'nginx.conf'), NGINX_CONF(dir, port));
      return [program, '-p', dir, '-c', join(dir, 'nginx.conf'), '-e', 'stderr'];
    },
  },
  'Python http.server': {
    program: find('python3'),
    package: 'python3',
    command: (program, dir, port) => {
      writeFileSync(join(dir, 'page'), 'x'.repeat(PAGE_BYTES));
      return [program, '-u', '-m', 'http.server', '--bind', '127.0.0.1', '--directory', dir, String(port)];
    },
  },
} satisfies Record<string, Recipe>;

/** Of `/page` of the Python server: more than fits between the two in one go. */
export const PAGE_BYTES = 400 * 1024;

export type ServerName = keyof typeof RECIPES;

/** PostgreSQL does not run as root. */
export function postgresUser(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const [, , uid, gid] = (/^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0] ?? '').split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Null: it can be started. */
export const missing = (name: ServerName): string | null =>
  RECIPES[name].program === null ? `the package ${RECIPES[name].package} is not installed` : null;

for (const name of Object.keys(RECIPES) as ServerName[]) {
  const lack = missing(name);
  if (lack === null) continue;
  const said = `tests with a real ${name}: ${lack}`;
  if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw new Error(said);
  console.warn(`SKIPPED: ${said}`);
}

/** Resolves when it accepts connections. */
export async function startServer(name: ServerName): Promise<RealServer> {
  const recipe: Recipe = RECIPES[name];
  const dir = tempDir();
  chmodSync(dir.path, 0o755);
  const port = await freePort();
  const home = dir.at('home');
  mkdirSync(home);
  const [program, ...args] = recipe.command(recipe.program!, home, port);
  const path = dir.at('log');
  const log = openSync(path, 'a');
  const user = name === 'PostgreSQL' ? postgresUser() : null;
  const child = spawn(program!, args, { ...user, cwd: home, stdio: ['ignore', log, log] });
  closeSync(log);
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = async (): Promise<string> => {
    kill(child);
    await gone;
    return readFileSync(path, 'utf8');
  };
  const server: RealServer = {
    port,
    log: () => readFileSync(path, 'utf8'),
    end,
    [Symbol.asyncDispose]: async () => {
      await end();
      dir[Symbol.dispose]();
    },
  };
  await waitFor(`${name} to answer`, () => accepts(port));
  return server;
}

/** PostgreSQL has processes of its own, which it ends only in order; the others are one process. */
function kill(child: ChildProcess): void {
  child.kill(child.spawnfile.endsWith('postgres') ? 'SIGQUIT' : 'SIGKILL');
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.end());
    socket.resume().once('close', (hadError) => resolve(!hadError));
  });
