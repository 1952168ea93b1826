/** Keepwell as it was built in this repository: with its native shim, and with the one of `sh` that does the same where there is no native one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../lib/command.mjs';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const CLI = join(ROOT, 'dist/bin/keepwell.cjs');
/** Restart at once, as often as it takes. */
const RESTART = '{ backoff: { initial: 0s, max: 0s }, limit: { max: 1000000, within: 1h } }';

export const keepwell = (world) => tool(world, { id: 'keepwell', name: 'Keepwell', env: {} });
export const keepwellSh = (world) =>
  tool(world, { id: 'keepwell-sh', name: 'Keepwell, `sh` shim', env: { KEEPWELL_SHIM: 'sh' } });

async function tool(world, { id, name, env }) {
  const { stdout } = await run(process.execPath, [CLI, 'version'], { env: world.env('none') });
  return {
    ...{ id, name, version: /\d\S*/.exec(stdout)?.[0] ?? '' },
    fleet: (fleetId, components) => fleet(world, fleetId, { components, env: world.env(fleetId, env) }),
  };
}

function fleet(world, id, { components, env }) {
  const dir = world.newDir(id);
  const cli = (...args) => run(process.execPath, [CLI, ...args], { env, cwd: dir });
  const entries = components.map(
    ({ name, command, graceMs, more = '' }) =>
      `  ${name}:\n    process: { command: ${JSON.stringify(command)} }\n    min_uptime: 0s\n    restart: ${RESTART}${
        graceMs ? `\n    stop: { grace: ${graceMs}ms }` : ''
      }${more}`,
  );
  writeFileSync(join(dir, 'keepwell.yaml'), `components:\n${entries.join('\n')}\n`);
  const start = () => cli('up', '--timeout', '5m');
  return {
    id,
    start,
    startAgain: start,
    stop: () => cli('down'),
    status: { command: process.execPath, args: [CLI, 'status'], env, cwd: dir },
    daemonPid: () => JSON.parse(readFileSync(join(dir, '.keepwell/daemon.json'), 'utf8')).pid,
    log: (name) => join(dir, '.keepwell/logs', `${name}.log`),
    exitCodes: (names) => Promise.all(names.map(async (name) => exitCode(await cli('why', name, '-o', 'json')))),
  };
}

const exitCode = ({ stdout }) => JSON.parse(stdout).exit.code;
