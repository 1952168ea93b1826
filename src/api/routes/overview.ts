/** Everything that one screen shows, in one answer. Whoever asks again and again is told when nothing changed. */
import { createHash } from 'node:crypto';
import { sendText } from '../reply.ts';
import { type Route, route, STREAMING } from '../route.ts';

const tagOf = (text: string): string => `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;

export const overviewRoute: Route = route({
  method: 'GET',
  path: '/v1/overview',
  id: 'getOverview',
  access: 'read',
  summary:
    'What needs attention, and every component with its last 24 hours. With the ETag of the last answer in If-None-Match: 304 when nothing changed.',
  answer: 'Overview',
  handler: async ({ services, request, response }): Promise<typeof STREAMING> => {
    const text = `${JSON.stringify(await services.control.overview())}\n`;
    const tag = tagOf(text);
    response.setHeader('ETag', tag);
    if (request.headers['if-none-match'] === tag) response.writeHead(304).end();
    else sendText(response, 'application/json; charset=utf-8', text);
    return STREAMING;
  },
});
