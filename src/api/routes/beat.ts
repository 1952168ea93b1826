/** The heartbeat by ping. Answered from memory: programs call it in their loops. */

import { type Route, route } from '../route.ts';

export const beatRoute: Route = route({
  method: 'POST',
  path: '/v1/beat/{name}',
  id: 'beat',
  access: 'control',
  summary: 'Sends a heartbeat by ping for a component, or for an agent by its `log`.',
  answer: 'Beat',
  errors: ['NO_SUCH_COMPONENT', 'HEARTBEAT_NOT_BY_PING', 'COMPONENT_NOT_RUNNING', 'AGENT_NOT_RUNNING'],
  handler: ({ services, params }) => services.control.beat(params['name']!),
});
