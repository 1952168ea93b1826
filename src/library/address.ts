/** Where the daemon is that a program wants to talk to: found from a folder, or on another machine. */
import type { Address } from '../api/client/call.ts';
import { daemonSocket, findProject } from '../base/home.ts';
import type { ConnectOptions } from './options.ts';

export async function findAddress({ cwd = process.cwd(), files = [], home, host }: ConnectOptions): Promise<Address> {
  if (host !== undefined) {
    const { openWay } = await import('../fleet/open.ts');
    const way = openWay(host, { env: process.env, uid: process.getuid?.() ?? 0 });
    return () => Promise.resolve(way);
  }
  const at = home ?? findProject({ cwd, files, env: process.env }).home;
  return daemonSocket(at, process.env, process.getuid?.() ?? 0);
}
