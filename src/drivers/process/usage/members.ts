/** Who is in a cgroup, as bare numbers: what else there is to know of them is only read when it matters. */
import { statSync } from 'node:fs';
import { readProcFile } from '../proc-file.ts';
import { childCgroups } from '../tree/cgroup.ts';

/** Of a directory that has no directory in it. */
const LINKS_OF_LEAF = 2;

/** Everything listed in the cgroup and in those made below it. */
export function members(cgroup: string): readonly number[] {
  const lines = (readProcFile(`${cgroup}/cgroup.procs`) ?? '').split('\n');
  const pids = lines.map(Number).filter((pid) => pid > 0); // 0: a process of another pid namespace
  const isLeaf = (statSync(cgroup, { throwIfNoEntry: false })?.nlink ?? LINKS_OF_LEAF) <= LINKS_OF_LEAF;
  return isLeaf ? pids : [...pids, ...childCgroups(cgroup).flatMap(members)];
}
