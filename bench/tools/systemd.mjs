/** A user instance of systemd of our own, in cgroups of its own: it moves whatever shares its cgroup. */
import { spawn } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownCgroup } from '../lib/cgroups.mjs';
import { run } from '../lib/command.mjs';

const UNITS = '/usr/lib/systemd/user';
/** What a manager needs to begin and to end, and nothing of what this machine's users have. */
const NEEDED = ['basic.target', 'shutdown.target', 'exit.target', 'systemd-exit.service'];
/** It refuses where no systemd was booted, which it knows by a directory. */
const BEGIN = `mount -t tmpfs none /run && mkdir -p /run/systemd/system
for procs; do echo $$ >"$procs" || exit 1; done
exec systemd --user`;

export async function systemd(world) {
  if (process.getuid?.() !== 0) throw new Error('an instance of its own, beside the one of the session, needs root');
  const { stdout } = await run('systemctl', ['--version']);
  return {
    ...{ id: 'systemd', name: 'systemd --user', version: /\d+/.exec(stdout)[0] },
    fleet: (id, components) => fleet(world, id, components),
  };
}

function fleet(world, id, components) {
  const dir = world.newDir(id);
  const units = world.newDir(join(id, 'units'));
  const env = world.env(id, { XDG_RUNTIME_DIR: world.newDir(join(id, 'run')), SYSTEMD_UNIT_PATH: units });
  const log = (name) => join(dir, `${name}.log`);
  for (const name of NEEDED) copyFileSync(join(UNITS, name), join(units, name));
  for (const component of components)
    writeFileSync(join(units, `${component.name}.service`), unit(component, log(component.name)));
  const names = components.map(({ name }) => `${name}.service`);
  writeFileSync(join(units, 'default.target'), `[Unit]\nWants=${names.join(' ')}\n`);
  const ask = (...args) => run('systemctl', ['--user', ...args], { env, cwd: dir });
  let pid = null;
  const start = async () => {
    const cgroup = ownCgroup(`${world.name}.${id}`);
    const words = ['--mount', '/bin/sh', '-c', BEGIN, 'systemd', ...cgroup.map((path) => join(path, 'cgroup.procs'))];
    const child = spawn('unshare', words, { env, cwd: dir, stdio: 'ignore', detached: true });
    child.unref();
    pid = child.pid;
  };
  return {
    id,
    start,
    startAgain: start,
    stop: () => ask('exit'),
    status: { command: 'systemctl', args: ['--user', '--no-pager', 'list-units', '*.service'], env, cwd: dir },
    daemonPid: () => pid,
    log,
    async exitCodes(of) {
      const { stdout } = await ask('show', '-p', 'ExecMainStatus', ...of);
      return [...stdout.matchAll(/ExecMainStatus=(\d+)/g)].map(([, code]) => Number(code));
    },
  };
}

const unit = ({ command, graceMs }, log) => `[Unit]
StartLimitIntervalSec=0
[Service]
ExecStart=${command.map((word) => `"${word}"`).join(' ')}
Restart=always
RestartSec=0
StandardOutput=append:${log}
StandardError=append:${log}
${graceMs ? `TimeoutStopSec=${graceMs}ms\n` : ''}`;
