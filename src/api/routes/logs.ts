/** What components wrote: the last lines, or a stream that goes on. */

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { LogsQuery } from '../../logs/ports.ts';
import { MAX_PATTERN_CHARS, type Pattern, parsePattern } from '../../supervision/rules/health/pattern.ts';
import { logs, requireLogged } from '../answers.ts';
import { type Route, route, type Services, STREAMING } from '../route.ts';
import { FLAG, NAME_LIST, TIME, upTo } from '../schemas.ts';
import { EventStream } from '../streams.ts';

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

/** As in `keepwell logs --grep`. */
const PATTERN = z
  .string()
  .max(MAX_PATTERN_CHARS)
  .transform((text, context): Pattern => {
    const pattern = parsePattern(text);
    if ('kind' in pattern) return pattern;
    context.addIssue({ code: 'custom', message: `${pattern.problem}. ${pattern.hint}` });
    return z.NEVER;
  })
  .meta({ documented: { type: 'string', maxLength: MAX_PATTERN_CHARS, examples: ['ERROR', '/time(d )?out/i'] } });

const LOGS_QUERY = z
  .strictObject({
    component: NAME_LIST.optional().meta({
      description: 'Names, with commas between them. Default: all that wrote something.',
    }),
    tail: upTo(MAX_LINES)
      .optional()
      .meta({
        description: `The last lines of each to begin with. Default: ${DEFAULT_LINES}, or ${MAX_LINES} with since or previous.`,
      }),
    after: POSITIONS.optional().meta({
      description:
        'Instead of `tail`, by component: behind the line with this `offset`. To go on after an interruption, also over rotations.',
    }),
    since: TIME.optional().meta({ description: 'Only what was written at this time or later.' }),
    until: TIME.optional().meta({ description: 'Only what was written until then.' }),
    grep: PATTERN.optional().meta({
      description: 'Only lines with this text in them, or that fit /this expression/i. `tail` counts these.',
    }),
    previous: FLAG.default(false).meta({ description: 'Only what the run before the present or last one wrote.' }),
    follow: FLAG.default(false).meta({ description: 'Go on with what is written, as text/event-stream.' }),
  })
  .refine(({ since = 0, until = since }) => since <= until, { message: 'must not be before since', path: ['until'] })
  .refine(({ follow, until }) => !follow || until === undefined, {
    message: 'does not go with follow',
    path: ['until'],
  })
  .refine(({ follow, previous }) => !(follow && previous), { message: 'does not go with follow', path: ['previous'] });

const toQuery = (query: z.output<typeof LOGS_QUERY>): LogsQuery => {
  const { component = [], after = {}, since: sinceMs, until: untilMs, grep, previous } = query;
  const isSpan = sinceMs !== undefined || previous;
  const { tail = isSpan ? MAX_LINES : DEFAULT_LINES } = query;
  return { components: [...new Set(component)], tail, after, sinceMs, untilMs, grep, previous };
};

export const logRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/logs',
    id: 'readLogs',
    access: 'read',
    summary: 'What components wrote to stdout and stderr: the last lines, or a stream.',
    query: LOGS_QUERY,
    answer: 'Logs',
    stream: { item: 'LogLine', when: 'With `follow=true`: one line per event, without an end.' },
    errors: ['NO_SUCH_COMPONENT', 'PATTERN_TOO_SLOW', 'TOO_MANY_STREAMS'],
    waits: true,
    handler: async ({ services, response, query }) => {
      const wanted = toQuery(query);
      if (!query.follow) return await logs(services.control, wanted);
      requireLogged(services.control, wanted.components);
      await streamLogs(response, wanted, services);
      return STREAMING;
    },
  }),
];

// Lines of logs as a stream. The files are the queue: while a reader does not read, nothing is read for it.

/** With lines at hand there may be more of them; but a component that writes without end must not keep the daemon busy. */
const MORE_MS = 20;

/** Resolves when the reader is gone, was cut off, or the server closes. Rejects before anything is sent when it cannot begin. */
export async function streamLogs(
  response: ServerResponse,
  query: LogsQuery,
  { control, streams }: Pick<Services, 'control' | 'streams'>,
): Promise<void> {
  await using cursor = control.logs.open(query);
  // Whoever asks for an expression that runs wild is told so while there still is an answer to give.
  let batch = await cursor.read();
  using stream = new EventStream(response, streams);
  const over = new AbortController();
  void stream.closed.then(() => over.abort());
  for (;;) {
    for (const line of batch.lines) stream.send(line);
    await stream.drained();
    const pauseMs = batch.lines.length > 0 || batch.more ? MORE_MS : streams.limits.logPollMs;
    await sleep(pauseMs, undefined, { signal: over.signal }).catch(() => {});
    if (stream.isOver) return;
    batch = await cursor.read();
  }
}
