/** monit, as Debian packages it, with the shortest cycle that it has. It knows processes by their pid files and starts them one after the other. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/command.mjs';
import { packaged } from './debian.mjs';

export async function monit(world) {
  const { version, env } = await packaged(world, 'monit', ['monit']);
  return {
    ...{ id: 'monit', name: 'monit', version, env, most: 100, isSlow: true, isSlowToStop: true, hasNoLog: true },
    fleet: (id, components) => fleet(world, { id, components, env: world.env(id, env) }),
  };
}

/** The first lines of any configuration of it in this directory: the cycle, and where it keeps what. */
export function monitPreamble(dir, cycleS) {
  const places = ['log', 'pid', 'id', 'state'].map((what) => `set ${what}file ${join(dir, `monit.${what}`)}`);
  return `set daemon ${cycleS}\n${places.join('\n')}\nset httpd unixsocket ${join(dir, 'monit.socket')}\n  allow localhost\n`;
}

function fleet(world, { id, components, env }) {
  const dir = world.newDir(id);
  const config = join(dir, 'monitrc');
  const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;
  // monit gives a program next to no environment: the mark is set again.
  const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`);
  const checks = components.map(({ name, command }) => {
    const [pid, script] = [join(dir, `${name}.pid`), join(dir, `${name}.sh`)];
    const words = command.map(quote).join(' ');
    writeFileSync(script, `${exports.join('\n')}\n${words} >/dev/null 2>&1 </dev/null & echo $! >${quote(pid)}\n`);
    return `check process ${name} with pidfile ${pid}
  start program = "/bin/sh ${script}"
  stop program = "/bin/sh -c 'kill $(cat ${pid})'"`;
  });
  writeFileSync(config, `${monitPreamble(dir, 1)}${checks.join('\n')}\n`, { mode: 0o600 });
  const ask = (...args) => run('monit', ['-c', config, ...args], { env, cwd: dir });
  const start = async () => {
    spawn('monit', ['-I', '-c', config], { env, cwd: dir, stdio: 'ignore', detached: true }).unref();
  };
  return {
    id,
    start,
    startAgain: start,
    stop: () => ask('stop', 'all'),
    status: { command: 'monit', args: ['-c', config, 'summary'], env, cwd: dir },
    daemonPid: () => Number(readFileSync(join(dir, 'monit.pid'), 'utf8')),
    log: () => null,
  };
}
