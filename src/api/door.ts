/** The door of the unix socket. Its mode 0600 is the real protection; the rest stops a browser that was tricked into talking to it through a proxy. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/pure/errors.ts';
import type { Door } from '../dashboard/ports.ts';

const HOSTS: ReadonlySet<string> = new Set(['localhost', 'keepwell']);
const SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

const refuse = (problem: string): never => {
  throw new AppError('REQUEST_REFUSED', { problem });
};

/** A foreign Host, any Origin, and a Sec-Fetch-Site that says "another site" are refused. Whoever gets in may do everything. */
export const socketDoor: Door = {
  headers: {},
  metrics: 'token',
  asset: () => null,
  accessOf: () => 'socket',
  admit: (request) => {
    const hosts = allOf(request, 'host');
    if (hosts.length !== 1) refuse(`it needs exactly one Host header, not ${hosts.length}.`);
    if (!HOSTS.has(hosts[0]!.toLowerCase())) refuse('its Host header is not "localhost" or "keepwell".');
    if (allOf(request, 'origin').length > 0) refuse('it comes from a web page (it has an Origin header).');
    if (allOf(request, 'sec-fetch-site').some((site) => !SITES.has(site))) refuse('it comes from another web site.');
  },
};

const allOf = ({ headersDistinct }: IncomingMessage, name: string): readonly string[] => headersDistinct[name] ?? [];
