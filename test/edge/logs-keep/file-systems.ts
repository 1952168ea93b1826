/** Where logs can lie: on a file system whose files can lose their head, and on one (tmpfs) whose files cannot. */
import { dirname } from 'node:path';
import { findCollapse } from '../../../src/logs/keep/collapse.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { canMount, smallDisk } from '../store/mounts.ts';

export const canCollapse = await (async () => {
  using dir = tempDir();
  if (await findCollapse(dir.path)) return true;
  console.warn(
    `SKIPPED: tests of collapse-range, because the file system of ${dir.path} cannot do it (ext4 and xfs can)`,
  );
  if (process.env['KEEPWELL_REQUIRE_ALL']) throw new Error('collapse-range is needed: put TMPDIR on ext4 or xfs');
  return false;
})();

export interface Place extends Disposable {
  readonly path: string;
}

const onTmpfs = (sizeKb: number): Place => {
  const disk = smallDisk(sizeKb);
  return { path: dirname(disk.at('x')), [Symbol.dispose]: () => disk[Symbol.dispose]() };
};

export interface Kind {
  readonly mechanism: 'collapse-range' | 'copy-truncate';
  readonly isThere: boolean;
  place(sizeKb?: number): Place;
}

export const KINDS: readonly Kind[] = [
  { mechanism: 'collapse-range', isThere: canCollapse, place: () => tempDir() },
  { mechanism: 'copy-truncate', isThere: canMount, place: (sizeKb = 200_000) => onTmpfs(sizeKb) },
];
