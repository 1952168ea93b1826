/** The shims that runs must work with: the native one, and that of sh with each shell, as far as this machine has them. */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { ProcessDriverOptions } from '../../../src/drivers/process/process-driver.ts';
import { SHIM } from './workshop.ts';

const SHELLS = ['dash', 'bash', 'busybox sh'] as const;
type Shell = (typeof SHELLS)[number];

/** Of this run of the file, see `SHIM`. */
export const SHIMS: readonly ('native' | Shell)[] = SHIM === 'native' ? ['native'] : SHELLS;

const PLACES = (process.env['PATH'] ?? '').split(':').filter((place) => place !== '');

/** What makes a driver use it; `dir` is for what has to be made. Where it is missing the test is skipped, saying so. */
export function withShim(
  shim: (typeof SHIMS)[number],
  dir: string,
  context: TestContext,
): Partial<ProcessDriverOptions> {
  return shim === 'native' ? { shim: 'auto' } : { shim: 'sh', shell: shellPath(shim, dir, context) };
}

/** The path to run it by. */
function shellPath(shell: Shell, dir: string, { skip }: TestContext): string {
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
