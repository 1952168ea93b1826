/** What the kernel lets this daemon do, and the limits it has itself. Being root is not enough in a container, nor always needed. */
import { readFileSync } from 'node:fs';
import { meansGone } from '../../../base/pure/errno.ts';

/** Numbers of capabilities(7). */
const CAPABILITIES = { setgid: 6, setuid: 7, niceness: 23, resources: 24 } as const;

export function has(capability: keyof typeof CAPABILITIES): boolean {
  const [, effective = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(read('/proc/self/status')) ?? [];
  return ((BigInt(`0x${effective}`) >> BigInt(CAPABILITIES[capability])) & 1n) === 1n;
}

/** The hard limit of open files; infinite when it cannot be known. */
export const hardNofile = (): number => hardLimit('Max open files');

/** What the kernel itself allows, whoever asks. */
export const mostNofile = (): number => Number(read('/proc/sys/fs/nr_open')) || Number.POSITIVE_INFINITY;

/** The lowest niceness we may set without the capability; 20 when none below our own. */
export const lowestNice = (): number => 20 - hardLimit('Max nice priority');

function hardLimit(name: string): number {
  const line = read('/proc/self/limits')
    .split('\n')
    .find((each) => each.startsWith(name));
  const hard = Number(line?.split(/\s{2,}/)[2]);
  return Number.isInteger(hard) ? hard : Number.POSITIVE_INFINITY;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (meansGone(error)) return '';
    throw error; // what we may do is not known just now
  }
}
