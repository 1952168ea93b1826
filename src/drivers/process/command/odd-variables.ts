/**
 * dash and busybox sh drop variables whose names are not shell names (`discovery.type`), so these travel as arguments to
 * env(1), which hands over to the next program without forking.
 */
import type { Tools } from '../shim/tools.ts';

export const isShellName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);

/** What stands in front of the command; empty when nothing is odd. */
export function oddVariables(env: Readonly<Record<string, string>>, tools: Pick<Tools, 'env'>): readonly string[] {
  const odd = Object.entries(env).filter(([name]) => !isShellName(name));
  return odd.length === 0 ? [] : [tools.env, ...odd.map(([name, value]) => `${name}=${value}`)];
}
