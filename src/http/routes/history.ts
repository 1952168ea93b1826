/** What happened: crashes and their dossiers. */
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import type { WallMs } from '../../core/ids.ts';
import type { CrashesView, WhyView } from '../../core/views.ts';
import type { Control } from '../../ports/control.ts';
import { type Route, route } from '../route.ts';
import { limit, NAME, NO_BODY, NO_QUERY, TIME } from '../schemas.ts';
import { findComponent } from './status.ts';

const CRASHES_QUERY = z.strictObject({
  component: NAME.optional(),
  since: TIME.optional(),
  limit: limit(1000).default(100),
});

function crashes({ control }: { control: Control }, query: z.output<typeof CRASHES_QUERY>): CrashesView {
  const { component, since } = query;
  const found = control.history.crashes({
    limit: query.limit,
    ...(component === undefined ? {} : { component }),
    ...(since === undefined ? {} : { since: since as WallMs }),
  });
  // A component that is gone from the configuration keeps its history, so only a name nobody knows at all is an error.
  if (component !== undefined && found.length === 0 && control.history.why({ component }) === null) {
    findComponent(control.status(), component);
  }
  return { schema_version: 1, crashes: found };
}

function crashById({ control }: { control: Control }, text: string): WhyView {
  const found = /^\d{1,15}$/.test(text) ? control.history.why({ id: Number(text) }) : null;
  if (found === null) throw new AppError('NO_SUCH_CRASH', { id: text.slice(0, 100) });
  return found;
}

function why({ control }: { control: Control }, component: string): WhyView {
  const found = control.history.why({ component });
  if (found) return found;
  const { name } = findComponent(control.status(), component);
  throw new AppError('NOTHING_RECORDED', { name });
}

export const historyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/crashes',
    summary: 'Crashes, newest first.',
    success: 200,
    query: CRASHES_QUERY,
    body: NO_BODY,
    handler: ({ services, query }) => crashes(services, query),
  }),
  route({
    method: 'GET',
    path: '/v1/crashes/{id}',
    summary: 'All that is known about one crash.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    handler: ({ services, params }) => crashById(services, params['id']!),
  }),
  route({
    method: 'GET',
    path: '/v1/why/{name}',
    summary: 'All that is known about the newest crash of a component.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    handler: ({ services, params }) => why(services, params['name']!),
  }),
];
