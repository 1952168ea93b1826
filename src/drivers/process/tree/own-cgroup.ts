/** Where our own cgroups are in the file system: the one of v2, and with v1 one for each controller. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export type Controller = 'memory' | 'pids';
/** A hierarchy of cgroups: the one of v2, or the one of v1 that has this controller. */
export type CgroupKind = 2 | Controller | 'cpuacct';

export const HOME_PREFIX = 'keepwell-';

/** The name under which everything of one state directory is kept. */
export const homeName = (home: string): string =>
  HOME_PREFIX + createHash('sha256').update(home).digest('hex').slice(0, 12);

export const ownCgroup = (): string | null => cgroupOf('self', 2);

/** Of the hierarchy that has this controller. */
export const ownCgroupV1 = (controller: Controller): string | null => cgroupOf('self', controller);

/** Our own cgroup (v2), and all those around it that can be seen from here, innermost first. */
export function cgroupsAround(): readonly string[] {
  const mount = findMount(2);
  const around: string[] = [];
  for (let path = ownCgroup(); mount && path !== null; path = path === mount.point ? null : dirname(path))
    around.push(path);
  return around;
}

/** In v2, or in the hierarchy of v1 that has this controller. Containers may see only a part of the tree: the root of the mount. */
export function cgroupOf(pid: number | 'self', which: CgroupKind): string | null {
  const mount = findMount(which);
  const lines = read(`/proc/${pid}/cgroup`).map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const mine = lines.find((line) => line && (which === 2 ? line[1] === '' : line[1]?.split(',').includes(which)));
  if (!mount || !mine?.[2]) return null;
  const inside = relative(mount.root, mine[2]);
  return inside.startsWith('..') ? null : join(mount.point, inside);
}

function findMount(which: CgroupKind): { readonly root: string; readonly point: string } | null {
  for (const line of read('/proc/self/mountinfo')) {
    const words = line.split(' ');
    const [type, , options = ''] = words.slice(words.indexOf('-') + 1);
    const fits = which === 2 ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes(which);
    if (fits && words[3] && words[4]) return { root: words[3], point: words[4] };
  }
  return null;
}

function read(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
