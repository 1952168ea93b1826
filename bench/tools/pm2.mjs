/** PM2, from the registry into the benchmark's own directory, with its telemetry off and the settings that restart fastest. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/command.mjs';

const VERSION = '7.0.4';
const OFTEN = 1_000_000;

export async function pm2(world) {
  const prefix = world.newDir('pm2-package');
  writeFileSync(join(prefix, 'package.json'), '{ "private": true }');
  // What `npm run` told about our own project is not for this one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const install = ['install', '--prefix', prefix, '--no-audit', '--no-fund', `pm2@${VERSION}`];
  await run('npm', install, { cwd: prefix, env: { ...env, ...world.mark } });
  const cli = join(prefix, 'node_modules/pm2/bin/pm2');
  return { id: 'pm2', name: 'PM2', version: VERSION, fleet: (id, components) => fleet(world, { id, components, cli }) };
}

function fleet(world, { id, components, cli }) {
  const dir = world.newDir(id);
  const home = world.newDir(join(id, 'home'));
  const quiet = { PM2_DISCRETE_MODE: 'true', PM2_DISABLE_VERSION_CHECK: 'true', PM2_NO_INTERACTION: 'true' };
  const env = world.env(id, { PM2_HOME: home, ...quiet });
  const log = (name) => join(dir, `${name}.log`);
  const apps = components.map(({ name, command: [script, ...args], graceMs }) => ({
    ...{ name, script, args, interpreter: 'none', exec_mode: 'fork', out_file: log(name), error_file: log(name) },
    ...{ autorestart: true, max_restarts: OFTEN, min_uptime: 0, vizion: false, pmx: false },
    ...(graceMs ? { kill_timeout: graceMs } : {}),
  }));
  const file = join(dir, 'apps.json');
  writeFileSync(file, JSON.stringify({ apps }));
  const ask = (...args) => run(process.execPath, [cli, ...args], { env, cwd: dir });
  return {
    id,
    start: () => ask('start', file),
    /** As its guide has it: `pm2 save` while all is well, `pm2 resurrect` after a fault. */
    beforeDeath: () => ask('save'),
    startAgain: () => ask('resurrect'),
    stop: () => ask('kill'),
    status: { command: process.execPath, args: [cli, 'jlist'], env, cwd: dir },
    daemonPid: () => Number(readFileSync(join(home, 'pm2.pid'), 'utf8')),
    log,
    async exitCodes(names) {
      const { stdout } = await ask('jlist');
      const all = JSON.parse(stdout.slice(stdout.indexOf('[{')));
      return names.map((name) => all.find((app) => app.name === name)?.pm2_env.exit_code ?? null);
    },
  };
}
