/** Cgroups of our own, in every hierarchy that this machine has, and their removal. */
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';

const hierarchies = () =>
  [ROOT, ...folders(ROOT).map((name) => join(ROOT, name))].filter((dir) => existsSync(join(dir, 'cgroup.procs')));

/** The directories of it, one for each hierarchy; where one cannot take processes yet it takes what its parent has. */
export function ownCgroup(name) {
  const tops = existsSync(join(ROOT, 'cgroup.procs')) ? [ROOT] : hierarchies();
  return tops
    .filter((top) => !/\/cpuset$/.test(top)) // takes no process before it was told its cores
    .map((top) => {
      mkdirSync(join(top, name), { recursive: true });
      return join(top, name);
    });
}

/** Everything whose name begins so; it must be empty of processes. */
export function removeCgroups(prefix) {
  for (const top of hierarchies())
    for (const name of folders(top).filter((each) => each.startsWith(prefix))) removeTree(join(top, name));
}

function removeTree(dir) {
  for (const name of folders(dir)) removeTree(join(dir, name));
  removeCgroup(dir);
}

export function removeCgroup(path) {
  try {
    rmdirSync(path);
  } catch {
    // not there, or not ours
  }
}

function folders(dir) {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
