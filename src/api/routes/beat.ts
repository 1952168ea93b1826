/** The heartbeat by ping. Answered from memory: programs call it in their loops. */

import { z } from 'zod';
import type { BeatView } from '../control.ts';
import { type Route, route } from '../route.ts';
import { EMPTY_BODY, NO_QUERY } from '../schemas.ts';
import { named, SCHEMA_VERSION, viewOf } from '../views/view.ts';

const BEAT = named(
  'Beat',
  viewOf<BeatView>()(z.strictObject({ schema_version: SCHEMA_VERSION, component: z.string() })),
  'The heartbeat was heard.',
  { schema_version: 1, component: 'worker' },
);

export const beatRoute: Route = route({
  method: 'POST',
  path: '/v1/beat/{name}',
  id: 'beat',
  summary: 'Sends a heartbeat by ping for a component.',
  success: 200,
  query: NO_QUERY,
  body: EMPTY_BODY,
  answer: BEAT,
  errors: ['NO_SUCH_COMPONENT', 'HEARTBEAT_NOT_BY_PING', 'COMPONENT_NOT_RUNNING'],
  handler: ({ services, params }) => services.control.beat(params['name']!),
});
