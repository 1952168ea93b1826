/**
 * Docker Compose 2 for tests, where the machine has only version 1 or none: taken out of the package of the next Debian, and put beside
 * other things that can be made again. The system is left as it is. Prints one line of JSON: `{ "dockerConfig": DIR }`, a directory
 * for DOCKER_CONFIG, or `{ "problem": … }`.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, 'node_modules/.cache/keepwell-compose-v2');
const SOURCES = '/etc/apt/sources.list.d/debian.sources';
const PLUGIN = 'cli-plugins/docker-compose';
const FETCH_WITHIN_MS = 300_000;

try {
  if (!existsSync(join(cache, PLUGIN))) fetchIt();
  const { status, stdout } = spawnSync('docker', ['compose', 'version', '--short'], {
    encoding: 'utf8',
    env: { ...process.env, DOCKER_CONFIG: cache },
  });
  if (status !== 0 || !/^v?2\./.test(stdout)) throw new Error('what was fetched does not run here');
  say({ dockerConfig: cache });
} catch (error) {
  say({ problem: `Docker Compose 2 cannot be had: ${error.message}` });
}

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function fetchIt() {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-compose-'));
  try {
    for (const each of ['lists/partial', 'cache/archives/partial', 'made/cli-plugins'])
      mkdirSync(join(dir, each), { recursive: true });
    writeFileSync(join(dir, 'next.sources'), ofNextDebian(readFileSync(SOURCES, 'utf8')));
    const options = {
      'Dir::Etc::sourcelist': join(dir, 'next.sources'),
      'Dir::Etc::sourceparts': '-',
      'Dir::State::lists': join(dir, 'lists'),
      'Dir::Cache': join(dir, 'cache'),
      'APT::Sandbox::User': 'root',
    };
    const args = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    run('apt-get', [...args, '-qq', 'update'], dir);
    run('apt-get', [...args, '-qq', 'download', 'docker-compose'], dir);
    const archive = readdirSync(dir).find((name) => name.endsWith('.deb'));
    run('dpkg', ['-x', archive, 'x'], dir);
    cpSync(join(dir, 'x/usr/libexec/docker', PLUGIN), join(dir, 'made', PLUGIN));
    // Whole or not at all, also when two do it at once.
    mkdirSync(dirname(cache), { recursive: true });
    const beside = `${cache}.${process.pid}`;
    cpSync(join(dir, 'made'), beside, { recursive: true });
    rmSync(cache, { recursive: true, force: true });
    renameSync(beside, cache);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function ofNextDebian(sources) {
  return sources
    .replaceAll('bookworm-security', 'trixie-security')
    .replaceAll('bookworm bookworm-updates', 'trixie trixie-updates');
}

function run(program, args, cwd) {
  const { status, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: FETCH_WITHIN_MS });
  if (status !== 0) throw new Error(error?.message ?? `${program}: ${stderr.trim().split('\n').at(-1)}`);
}
