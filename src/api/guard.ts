/**
 * Keeps web pages out. The socket's mode 0600 is the real protection; these checks stop a browser that was tricked into
 * talking to it through a proxy, and they are the same ones the TCP listener will need.
 */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/pure/errors.ts';

const HOSTS: ReadonlySet<string> = new Set(['localhost', 'keepwell']);
const SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

const refuse = (problem: string): never => {
  throw new AppError('REQUEST_REFUSED', { problem });
};

/** Throws REQUEST_REFUSED for a foreign Host, any Origin, or a Sec-Fetch-Site that says "another site". */
export function guard(request: IncomingMessage): void {
  const hosts = allOf(request, 'host');
  if (hosts.length !== 1) refuse(`it needs exactly one Host header, not ${hosts.length}.`);
  if (!HOSTS.has(hosts[0]!.toLowerCase())) refuse('its Host header is not "localhost" or "keepwell".');
  if (allOf(request, 'origin').length > 0) refuse('it comes from a web page (it has an Origin header).');
  if (allOf(request, 'sec-fetch-site').some((site) => !SITES.has(site))) refuse('it comes from another web site.');
}

/** Every value of the header: node keeps only the first Host, which is what a smuggled second one counts on. */
function allOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() === name) values.push(rawHeaders[i + 1]!);
  }
  return values;
}
