/** How things are: status, one component, and the daemon's own version and health. */
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { didYouMean } from '../../core/suggest.ts';
import type { ComponentView, StatusView } from '../../core/views.ts';
import { type Route, route } from '../route.ts';
import { NO_BODY, NO_QUERY } from '../schemas.ts';

/** Throws NO_SUCH_COMPONENT, with the nearest name there is. */
export function findComponent({ components }: StatusView, name: string): ComponentView {
  const found = components.find((component) => component.name === name);
  if (found) return found;
  const names = components.map((component) => component.name);
  const short = name.slice(0, 100);
  throw new AppError('NO_SUCH_COMPONENT', { name: short, suggestion: didYouMean(short, names) });
}

export const statusRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/status',
    summary: 'The state of every component and of the daemon.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    handler: ({ services }) => services.control.status(),
  }),
  route({
    method: 'GET',
    path: '/v1/components/{name}',
    summary: 'The state of one component.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    handler: ({ services, params }) => ({
      schema_version: 1,
      ...findComponent(services.control.status(), params['name']!),
    }),
  }),
  route({
    method: 'GET',
    path: '/v1/version',
    summary: 'The version of the running daemon.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    handler: ({ services }) => ({ schema_version: 1, version: services.version }),
  }),
  route({
    method: 'GET',
    path: '/livez',
    summary: 'Whether the daemon answers at all.',
    success: 200,
    query: z.object({}), // whoever probes may add what it likes, such as a cache breaker
    body: NO_BODY,
    handler: () => ({ schema_version: 1, status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    summary: 'Whether the daemon supervises; a history it cannot write to is told, and does not make it unready.',
    success: 200,
    query: z.object({}),
    body: NO_BODY,
    handler: ({ services }) => {
      const { daemon, components } = services.control.status();
      return { schema_version: 1, status: 'ok', store: daemon.store, components: components.length };
    },
  }),
];
