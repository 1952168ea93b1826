/** Docker with `--restart always`: a private Engine, one container of busybox for each component. */
import { dirname } from 'node:path';
import { IMAGE } from '../lib/engine.mjs';
import { PROGRAMS } from '../lib/fleet.mjs';
import { isThere, pidsNaming } from '../lib/proc.mjs';

/** Whatever a program of the machine itself needs, and where the components meet the benchmark. */
const HOST_FOLDERS = ['/usr', '/lib', '/lib64', dirname(process.execPath)];
/** It waits 100 ms before a restart, and twice as long each time, unless the container has lived for so long. */
const MIN_UPTIME_MS = 10_500;
const AT_ONCE = 8;

export async function docker(world) {
  const engine = await world.engine();
  const { Version } = await engine.call('GET', '/version');
  return {
    ...{
      id: 'docker',
      name: 'Docker --restart',
      version: Version,
      most: 100,
      isSlow: true,
      minUptimeMs: MIN_UPTIME_MS,
    },
    fleet: (id, components) => fleet(world, { id, components, engine }),
  };
}

function fleet(world, { id, components, engine }) {
  const env = world.env(id);
  const containers = components.map(({ name, command, graceMs }) => ({ name: `${id}-${name}`, command, graceMs }));
  const binds = [...new Set([...HOST_FOLDERS.map((path) => `${path}:${path}:ro`), `${PROGRAMS}:${PROGRAMS}:ro`])];
  const remove = () =>
    each(containers, ({ name }) => engine.call('DELETE', `/containers/${name}?force=1`).catch(() => {}));
  world.onClear(id, remove);
  return {
    id,
    start: () =>
      each(containers, async ({ name, command }) => {
        await engine.call('POST', `/containers/create?name=${name}`, {
          ...{ Image: IMAGE, Cmd: command, Env: Object.entries(env).map((pair) => pair.join('=')) },
          HostConfig: {
            ...{ RestartPolicy: { Name: 'always' }, NetworkMode: 'none', PidMode: 'host' },
            LogConfig: { Type: 'json-file', Config: { 'max-size': '200m', 'max-file': '2' } },
            Binds: [...binds, `${world.dir}:${world.dir}`],
          },
        });
        await engine.call('POST', `/containers/${name}/start`);
      }),
    stop: () =>
      each(containers, ({ name, graceMs = 10_000 }) =>
        engine.call('POST', `/containers/${name}/stop?t=${Math.ceil(graceMs / 1_000)}`),
      ),
    startAgain: () => engine.begin(),
    kill: () => engine.kill(),
    status: { command: 'docker', args: ['-H', `unix://${engine.socketPath}`, 'ps', '-a'], env },
    daemonPid: () => engine.pid,
    overhead: () => pidsNaming(`${dirname(engine.socketPath)}/`).filter(isThere),
    log: () => null,
    exitCodes: (names) =>
      Promise.all(
        names.map(async (name) => (await engine.call('GET', `/containers/${id}-${name}/json`)).State.ExitCode),
      ),
  };
}

/** A few at a time: more make the Engine slower, not faster. */
async function each(items, act) {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
