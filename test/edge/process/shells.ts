/** The shells the shim must work with, as far as this machine has them. */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

export const SHELLS = ['dash', 'bash', 'busybox sh'] as const;
export type Shell = (typeof SHELLS)[number];

const PLACES = (process.env['PATH'] ?? '').split(':').filter((place) => place !== '');

/** The path to run it by; `dir` is for what has to be made. Where it is missing the test is skipped, saying so. */
export function shellPath(shell: Shell, dir: string, { skip }: TestContext): string {
  const [program, aptPackage] = shell === 'busybox sh' ? ['busybox', 'busybox-static'] : [shell, shell];
  const found = PLACES.map((place) => join(place, program)).find((path) => existsSync(path));
  if (found === undefined) skip(`${program} is not installed here: apt install ${aptPackage}`);
  return shell === 'busybox sh' ? asSh(String(found), dir) : String(found);
}

/** busybox is what its name says it is. */
function asSh(busybox: string, dir: string): string {
  const path = join(dir, 'sh');
  symlinkSync(busybox, path);
  return path;
}
