/** Hosts and ports as schemas. */
import * as network from '../readers/network.ts';
import { leaf } from '../leaves.ts';

export const portJson = { type: 'integer', minimum: network.PORTS.min, maximum: network.PORTS.max };
export const port = leaf(network.readPort, `port (${network.PORTS.min} to ${network.PORTS.max})`, {
  id: 'port',
  anyOf: [portJson, { type: 'string', pattern: '\\$\\{' }],
});
export const host = leaf(network.readHost, 'host', { type: 'string', minLength: 1 });
