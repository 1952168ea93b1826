/**
 * The floor: what the same work costs without a supervisor. A shell that forks, executes and waits; a plain file; a Node that does
 * nothing.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const floor = (world) => ({
  id: 'floor',
  name: 'floor',
  version: 'bare fork + exec, plain file, `node -e 0`',
  fleet: (id, components) => fleet(world, id, components),
});

function fleet(world, id, components) {
  const dir = world.newDir(id);
  const env = world.env(id);
  const script = join(dir, 'floor.sh');
  const log = (name) => join(dir, `${name}.log`);
  const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;
  // Each in a loop of its own: the loop is the whole of a supervisor that restarts at once.
  const lines = components.map(({ name, command }) => {
    const words = command.map(quote).join(' ');
    return `while :; do ${words} >>${quote(log(name))} 2>&1 </dev/null; done &`;
  });
  return {
    id,
    async start() {
      writeFileSync(script, `${lines.join('\n')}\nwait\n`);
      spawn('/bin/sh', [script], { env, cwd: dir, stdio: 'ignore', detached: true }).unref();
    },
    /** The loops first, then the components, which is all that stopping means here. */
    async stop() {
      for (const pid of world.overhead(id)) process.kill(pid, 'SIGKILL');
      for (const pid of world.announcements.pids(id).values()) process.kill(pid, 'SIGTERM');
    },
    status: { command: process.execPath, args: ['-e', '0'], env },
    daemonPid: () => null,
    log,
  };
}
