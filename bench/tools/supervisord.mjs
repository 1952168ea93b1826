/** supervisord, as Debian packages it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/command.mjs';
import { apt, areInstalled, unpacked } from './debian.mjs';

/** Each component costs it a few file descriptors; it refuses to start when it cannot have what it is told to want. */
const OPEN_FILES = Math.min(10_000, hardNofile());

function hardNofile() {
  const [, hard] = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return Number(hard ?? Number.POSITIVE_INFINITY);
}

export async function supervisord(world) {
  const programs = (await installed()) ?? (await unpackedPrograms(world));
  const { stdout } = await run(programs.daemon[0], [...programs.daemon.slice(1), '--version'], {
    env: { ...process.env, ...programs.env },
  });
  return {
    id: 'supervisord',
    name: 'supervisord',
    version: stdout.trim(),
    fleet: (id, components) => fleet(world, { id, components, programs }),
  };
}

async function installed() {
  const isThere = await areInstalled(['supervisord', 'supervisorctl']);
  return isThere ? { daemon: ['supervisord'], control: ['supervisorctl'], env: {} } : null;
}

async function unpackedPrograms(world) {
  const root = await unpacked(world, 'supervisor');
  const modules = join(root, 'usr/lib/python3/dist-packages');
  await run('python3', ['-c', 'import pkg_resources']).catch(async (error) => {
    if (process.getuid?.() !== 0) throw error;
    await apt(world, root, 'install', '--no-install-recommends', 'python3-pkg-resources');
  });
  await run('python3', ['-m', 'compileall', '-q', modules]); // as its installation would have done
  const program = (name) => ['python3', join(root, 'usr/bin', name)];
  return { daemon: program('supervisord'), control: program('supervisorctl'), env: { PYTHONPATH: modules } };
}

function fleet(world, { id, components, programs }) {
  const dir = world.newDir(id);
  const env = world.env(id, programs.env);
  const config = join(dir, 'supervisord.conf');
  const log = (name) => join(dir, `${name}.log`);
  writeFileSync(config, configuration(dir, components, log));
  const command = ([program, ...first], ...args) => ({
    command: program,
    args: [...first, '-c', config, ...args],
    env,
    cwd: dir,
  });
  const start = ({ command: program, args, ...options }) => run(program, args, options);
  return {
    id,
    start: () => start(command(programs.daemon)),
    stop: () => start(command(programs.control, 'shutdown')),
    status: command(programs.control, 'status'),
    daemonPid: () => Number(readFileSync(join(dir, 'supervisord.pid'), 'utf8')),
    log,
  };
}

function configuration(dir, components, log) {
  const socket = join(dir, 'supervisor.sock');
  const quote = (word) => `"${word}"`;
  const programs = components.map(
    ({ name, command }) => `[program:${name}]
command=${command.map(quote).join(' ').replaceAll('%', '%%')}
autorestart=true
startsecs=0
startretries=1000000
redirect_stderr=true
stdout_logfile=${log(name)}`,
  );
  return `[unix_http_server]
file=${socket}
[supervisord]
logfile=${join(dir, 'supervisord.log')}
pidfile=${join(dir, 'supervisord.pid')}
childlogdir=${dir}
minfds=${OPEN_FILES}
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://${socket}
${programs.join('\n')}
`;
}
