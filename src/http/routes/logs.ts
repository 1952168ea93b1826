/** What components wrote: the last lines, or a stream that goes on. */
import { z } from 'zod';
import type { LogsQuery } from '../../ports/logs.ts';
import { logs, requireLogged } from '../answers.ts';
import { streamLogs } from '../log-stream.ts';
import { type Route, route, STREAMING } from '../route.ts';
import { FLAG, NAME_LIST, NO_BODY, upTo } from '../schemas.ts';
import { LOG_LINE, LOGS } from '../views/history.ts';

const MAX_LINES = 10_000;
const DEFAULT_LINES = 100;

/** `api:1200,db:77` */
const POSITIONS = z
  .string()
  .max(8_000)
  .regex(/^[a-z0-9._-]{1,63}:\d{1,15}(?:,[a-z0-9._-]{1,63}:\d{1,15})*$/, 'must look like api:1200,worker:77')
  .transform((text): Record<string, number> => {
    const pairs = text.split(',').map((pair) => pair.split(':'));
    return Object.fromEntries(pairs.map(([name, offset]) => [name, Number(offset)]));
  })
  .meta({ documented: { type: 'string', examples: ['api:1200,worker:77'] } });

const LOGS_QUERY = z.strictObject({
  component: NAME_LIST.optional().meta({
    description: 'Names, with commas between them. Default: all that wrote something.',
  }),
  tail: upTo(MAX_LINES).default(DEFAULT_LINES).meta({ description: 'The last lines of each to begin with.' }),
  after: POSITIONS.optional().meta({
    description: 'Instead of `tail`, by component: behind the line with this `offset`. To go on after an interruption.',
  }),
  follow: FLAG.default(false).meta({ description: 'Go on with what is written, as text/event-stream.' }),
});

const toQuery = ({ component = [], tail, after = {} }: z.output<typeof LOGS_QUERY>): LogsQuery => ({
  components: [...new Set(component)],
  tail,
  after,
});

export const logRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/logs',
    id: 'readLogs',
    summary: 'What components wrote to stdout and stderr: the last lines, or a stream.',
    success: 200,
    query: LOGS_QUERY,
    body: NO_BODY,
    answer: LOGS,
    stream: { item: LOG_LINE, when: 'With `follow=true`: one line per event, without an end.' },
    errors: ['NO_SUCH_COMPONENT', 'TOO_MANY_STREAMS'],
    handler: async ({ services, response, query }) => {
      const wanted = toQuery(query);
      if (!query.follow) return logs(services.control, wanted);
      requireLogged(services.control, wanted.components);
      await streamLogs(response, wanted, services);
      return STREAMING;
    },
  }),
];
