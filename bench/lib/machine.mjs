/** What the figures depend on: the machine, without anything that would tell whose it is. */
import { readFileSync, realpathSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';

export function machine() {
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model?.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.versions.node,
    fileSystem: fileSystemOf(realpathSync(tmpdir())),
    load: loadavg()[0],
  };
}

/** The type of the file system that is mounted nearest above the path. */
function fileSystemOf(path) {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, point]) => point && (path === point || path.startsWith(point.endsWith('/') ? point : `${point}/`)));
  return mounts.toSorted((a, b) => b[1].length - a[1].length)[0]?.[2] ?? 'unknown';
}
