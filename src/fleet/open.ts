/** Everything that others need of this room, in one part that is loaded when another machine is meant, and never before. */
import type { Way } from '../api/client/call.ts';
import { AppError } from '../base/pure/errors.ts';
import { hostFor, readHosts } from './hosts-file.ts';
import { hostAndName } from './rules/host.ts';
import { type WayOptions, wayTo } from './way.ts';

export { askAll, type FleetAnswer } from './every-host.ts';

/** The way to a host by its address or by its name in the user file. Nothing is connected yet. Throws HOST_INVALID, NO_SUCH_HOST, NO_HOSTS. */
export const openWay = (host: string, options: WayOptions): Way => wayTo(hostFor(host, options.env), options);

/** "web/api" as a host of the user file and a name there; null: it is no such thing, or there is no such host. Throws CONFIG_INVALID. */
export function listedHostAndName(text: string, env: WayOptions['env']): ReturnType<typeof hostAndName> {
  const there = hostAndName(text);
  try {
    return there !== null && readHosts(env).some(({ name }) => name === there.host) ? there : null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'NO_HOSTS') return null;
    throw error;
  }
}
