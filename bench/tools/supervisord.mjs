/** supervisord, as Debian packages it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/command.mjs';
import { packaged } from './debian.mjs';

/** Each component costs it a few file descriptors; it refuses to start when it cannot have what it is told to want. */
const OPEN_FILES = Math.min(10_000, hardNofile());

function hardNofile() {
  const [, hard] = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return Number(hard ?? Number.POSITIVE_INFINITY);
}

export async function supervisord(world) {
  const { version, env } = await packaged(world, 'supervisor', ['supervisord', 'supervisorctl']);
  // As its installation would have done.
  if (env.PYTHONPATH) await run('python3', ['-m', 'compileall', '-q', env.PYTHONPATH]);
  return {
    ...{ id: 'supervisord', name: 'supervisord', version, isSlow: true },
    fleet: (id, components) => fleet(world, { id, components, env }),
  };
}

function fleet(world, { id, components, env: found }) {
  const dir = world.newDir(id);
  const env = world.env(id, found);
  const config = join(dir, 'supervisord.conf');
  const log = (name) => join(dir, `${name}.log`);
  writeFileSync(config, configuration(dir, components, log));
  const command = (program, ...args) => ({ command: program, args: ['-c', config, ...args], env, cwd: dir });
  const start = ({ command: program, args, ...options }) => run(program, args, options);
  return {
    id,
    start: () => start(command('supervisord')),
    startAgain: () => start(command('supervisord')),
    stop: () => start(command('supervisorctl', 'shutdown')),
    status: command('supervisorctl', 'status'),
    daemonPid: () => Number(readFileSync(join(dir, 'supervisord.pid'), 'utf8')),
    log,
  };
}

function configuration(dir, components, log) {
  const socket = join(dir, 'supervisor.sock');
  const quote = (word) => `"${word}"`;
  const programs = components.map(
    ({ name, command, graceMs }) => `[program:${name}]
command=${command.map(quote).join(' ').replaceAll('%', '%%')}
autorestart=true
startsecs=0
startretries=1000000
redirect_stderr=true
stdout_logfile=${log(name)}${graceMs ? `\nstopwaitsecs=${Math.ceil(graceMs / 1_000)}` : ''}`,
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
