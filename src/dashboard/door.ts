/** The door of the listener on the network: who is let in, as whom, and what goes out with every answer. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { AppError } from '../base/pure/errors.ts';
import type { Page } from './assets.ts';
import type { Door } from './ports.ts';
import { type Access, admit, type TokenRole } from './rules/access.ts';
import { isNews, isTooMany, NO_WRONG_TOKENS, oneMore } from './rules/wrong-tokens.ts';
import type { DashboardSpec } from './spec.ts';

export interface DoorParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly spec: DashboardSpec;
  readonly page: Page;
  roleOf(token: string): TokenRole | null;
}

/** No page but ours, nothing of ours in another page, no request to anywhere else, no script that is not a file of ours. */
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const BEARER = /^Bearer +([A-Za-z0-9_-]{1,200})$/i;

export function openDoor({ clock, log, spec, page, roleOf }: DoorParts): Door {
  let wrong = NO_WRONG_TOKENS;
  const refuseToken = ({ socket }: IncomingMessage): never => {
    wrong = oneMore(wrong, clock.now());
    if (isNews(wrong)) log.warn('somebody came to the page with a wrong token', { from: socket.remoteAddress ?? '' });
    throw new AppError(isTooMany(wrong) ? 'TOO_MANY_WRONG_TOKENS' : 'TOKEN_WRONG');
  };
  return {
    metrics: spec.metrics,
    headers: HEADERS,
    asset: (path) => page.assets.get(path) ?? null,
    admit: (request) =>
      admit(
        {
          hosts: allOf(request, 'host'),
          origins: allOf(request, 'origin'),
          sites: allOf(request, 'sec-fetch-site'),
          localAddress: request.socket.localAddress ?? '',
          localPort: request.socket.localPort ?? 0,
        },
        spec,
        isOpening(request),
      ),
    accessOf: (request): Access | null => {
      const given = allOf(request, 'authorization');
      if (given.length === 0) return null;
      const [, token] = BEARER.exec(given[0]!) ?? [];
      const role = given.length === 1 && token !== undefined ? roleOf(token) : null;
      return role ?? refuseToken(request);
    },
  };
}

/** The page itself in a tab of its own, as from a link or the address bar. */
const isOpening = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'GET' &&
  (url === '/' || url === '/index.html') &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document';

/** Every value of the header: elsewhere node keeps only the first Host, which is what a smuggled second one counts on. */
const allOf = ({ headersDistinct }: IncomingMessage, name: string): readonly string[] => headersDistinct[name] ?? [];
