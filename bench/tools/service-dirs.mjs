/** runit and s6, as Debian packages them: a directory for each component, one supervisor for each directory, one scanner over all. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/command.mjs';
import { programsOf } from './debian.mjs';

export async function runit(world) {
  const program = await programsOf(world, 'runit', ['runsvdir', 'runsv', 'sv']);
  return {
    id: 'runit',
    name: 'runit',
    version: 'of Debian',
    fleet: (id, components) =>
      fleet(world, {
        ...{ id, components },
        scanner: (dir) => [program('runsvdir'), dir],
        stop: (pid) => process.kill(pid, 'SIGHUP'),
        status: (dirs) => [program('sv'), 'status', ...dirs],
      }),
  };
}

export async function s6(world) {
  const program = await programsOf(world, 's6', ['s6-svscan', 's6-supervise', 's6-svscanctl', 's6-svstat']);
  return {
    id: 's6',
    name: 's6',
    version: 'of Debian',
    fleet: (id, components) =>
      fleet(world, {
        ...{ id, components },
        // Without -c it takes 500 services at most.
        scanner: (dir) => [program('s6-svscan'), '-c', '2000', dir],
        stop: (_pid, dir) => run(program('s6-svscanctl'), ['-t', dir]),
        status: (dirs) => ['/bin/sh', '-c', 'for dir; do "$0" "$dir"; done', program('s6-svstat'), ...dirs],
      }),
  };
}

function fleet(world, { id, components, scanner, stop, status }) {
  const dir = world.newDir(id);
  const services = world.newDir(join(id, 'services'));
  const env = world.env(id);
  const log = (name) => join(dir, `${name}.log`);
  const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;
  for (const { name, command } of components) {
    const script = `#!/bin/sh\nexec ${command.map(quote).join(' ')} >>${quote(log(name))} 2>&1 </dev/null\n`;
    writeFileSync(join(world.newDir(join(id, 'services', name)), 'run'), script, { mode: 0o755 });
  }
  const [statusProgram, ...statusArgs] = status(components.map(({ name }) => join(services, name)));
  let pid = null;
  return {
    id,
    async start() {
      const [program, ...args] = scanner(services);
      const child = spawn(program, args, {
        env: { ...env, PATH: process.env.PATH },
        cwd: dir,
        stdio: 'ignore',
        detached: true,
      });
      child.unref();
      pid = child.pid;
    },
    stop: async () => stop(pid, services),
    status: { command: statusProgram, args: statusArgs, env, cwd: dir },
    daemonPid: () => pid,
    log,
  };
}
