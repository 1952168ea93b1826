/** Keepwell as it was built in this repository. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../lib/command.mjs';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const CLI = join(ROOT, 'dist/bin/keepwell.cjs');
/** Restart at once, as often as it takes. */
const RESTART = '{ backoff: { initial: 0s, max: 0s }, limit: { max: 1000000, within: 1h } }';

export async function keepwell(world) {
  const { stdout } = await run(process.execPath, [CLI, 'version'], { env: world.env('none') });
  return {
    id: 'keepwell',
    name: 'Keepwell',
    version: /\d\S*/.exec(stdout)?.[0] ?? '',
    fleet: (id, components) => fleet(world, id, components),
  };
}

function fleet(world, id, components) {
  const dir = world.newDir(id);
  const env = world.env(id);
  const cli = (...args) => run(process.execPath, [CLI, ...args], { env, cwd: dir });
  const entries = components.map(
    ({ name, command }) =>
      `  ${name}:\n    process: { command: ${JSON.stringify(command)} }\n    min_uptime: 0s\n    restart: ${RESTART}`,
  );
  writeFileSync(join(dir, 'keepwell.yaml'), `components:\n${entries.join('\n')}\n`);
  return {
    id,
    start: () => cli('up', '--timeout', '5m'),
    stop: () => cli('down'),
    status: { command: process.execPath, args: [CLI, 'status'], env, cwd: dir },
    daemonPid: () => JSON.parse(readFileSync(join(dir, '.keepwell/daemon.json'), 'utf8')).pid,
    log: (name) => join(dir, '.keepwell/logs', `${name}.log`),
  };
}
