/** Everything that others need of this room, in one part that is loaded when another machine is meant, and never before. */
import type { Way } from '../api/client/call.ts';
import { hostFor } from './hosts-file.ts';
import { type WayOptions, wayTo } from './way.ts';

export { askAll, type FleetAnswer } from './every-host.ts';
export { hostAndName } from './rules/host.ts';

/** The way to a host by its address or by its name in the user file. Nothing is connected yet. Throws HOST_INVALID, NO_SUCH_HOST, NO_HOSTS. */
export const openWay = (host: string, options: WayOptions): Way => wayTo(hostFor(host, options.env), options);
