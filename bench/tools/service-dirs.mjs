/** runit and s6, as Debian packages them: a directory for each component, one supervisor for each directory, one scanner over all. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/command.mjs';
import { packaged } from './debian.mjs';

export async function runit(world) {
  const { version, env } = await packaged(world, 'runit', ['runsvdir', 'runsv', 'sv', 'svlogd']);
  return {
    ...{ id: 'runit', name: 'runit', version },
    fleet: (id, components, options) =>
      fleet(world, {
        ...{ id, components, env, options },
        scanner: (dir) => ['runsvdir', dir],
        stop: (_dir, own, { pid, dirs, graceMs }) =>
          graceMs
            ? run('sv', ['-w', `${Math.ceil(graceMs / 1_000)}`, 'force-stop', ...dirs], { env: own, codes: [0, 1] })
            : process.kill(pid, 'SIGHUP'),
        status: (dirs) => ['sv', 'status', ...dirs],
        logger: 'exec svlogd "$1"',
      }),
  };
}

export async function s6(world) {
  const programs = ['s6-svscan', 's6-supervise', 's6-svscanctl', 's6-svstat', 's6-svdt', 's6-log'];
  const { version, env, inPlace } = await packaged(world, 's6', programs);
  return {
    ...{ id: 's6', name: 's6', version, isSlow: true },
    fleet: (id, components, options) =>
      fleet(world, {
        ...{ id, components, env, options },
        // Without -c it takes 500 services at most.
        scanner: (dir) => inPlace(['s6-svscan', '-c', '2000', dir]),
        stop: (dir, own) => run('s6-svscanctl', ['-t', dir], { env: own }),
        status: (dirs) => ['/bin/sh', '-c', 'for dir; do "$0" "$dir"; done', 's6-svstat', ...dirs],
        logger: 'exec s6-log n20 s10000000 "$1"',
        deaths: (dir, own) => run('s6-svdt', [dir], { env: own }),
      }),
  };
}

function fleet(world, { id, components, env: found, options, scanner, stop, status, logger, deaths }) {
  const dir = world.newDir(id);
  const services = world.newDir(join(id, 'services'));
  const env = world.env(id, found);
  const log = (name) => join(dir, `${name}.log`);
  const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;
  const script = (path, text) => writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const { name, command, graceMs } of components) {
    const service = world.newDir(join(id, 'services', name));
    const words = `exec ${command.map(quote).join(' ')}`;
    // Their own loggers where it is logs that are measured, a plain file where it is not.
    script(
      join(service, 'run'),
      options?.isLogged ? `${words} 2>&1` : `${words} >>${quote(log(name))} 2>&1 </dev/null`,
    );
    if (options?.isLogged)
      script(
        join(world.newDir(join(id, 'services', name, 'log')), 'run'),
        logger.replace('"$1"', quote(world.newDir(join(id, `${name}.logs`)))),
      );
    if (graceMs) writeFileSync(join(service, 'timeout-kill'), `${graceMs}\n`);
  }
  const dirs = components.map(({ name }) => join(services, name));
  const [statusProgram, ...statusArgs] = status(dirs);
  const [{ graceMs }] = components;
  let pid = null;
  const start = async () => {
    const [program, ...args] = scanner(services);
    const child = spawn(program, args, { env, cwd: dir, stdio: 'ignore', detached: true });
    child.unref();
    pid = child.pid;
  };
  return {
    id,
    start,
    startAgain: start,
    stop: async () => stop(services, env, { pid, dirs, graceMs }),
    status: { command: statusProgram, args: statusArgs, env, cwd: dir },
    daemonPid: () => pid,
    log,
    ...(deaths
      ? { exitCodes: (names) => Promise.all(names.map((name) => lastDeath(deaths(join(services, name), env)))) }
      : {}),
  };
}

/** The newest line of a death tally: "… exitcode 42". */
async function lastDeath(tally) {
  const { stdout } = await tally;
  return Number(/exitcode (\d+)\s*$/.exec(stdout)?.[1] ?? Number.NaN);
}
