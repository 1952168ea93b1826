/** Passes when a connection can be made. Nothing is sent. */

import { z } from 'zod';
import { hangUp } from '../../base/hang-up.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { addressJson, host, leaf, optional, port } from '../../config/leaves.ts';
import { readTcp } from '../../config/readers/network.ts';
import { refuse } from '../../config/readers.ts';
import { addressWith, row } from '../../config/words/argv.ts';
import { inquiry, pass, within } from '../inquiry.ts';
import type { ProbeKind } from '../kind.ts';
import { connect } from '../net/connect.ts';

const map = z
  .strictObject({
    port: port.meta({ description: 'The port to connect to.', example: 7233 }),
    host: optional(host, { description: 'The machine to ask.', defaultsTo: DEFAULTS.probe.host, example: 'localhost' }),
  })
  .meta({ id: 'probe-tcp' });

const short = leaf<z.output<typeof map>>(readTcp, 'port or `host:port`', addressJson);

const schema = optional(z.union([map, short]), {
  description: 'Connect to a port; an accepted connection passes. Short form: a port or `host:port`.',
  defaultNote: 'none',
  example: 7233,
});

const socket = addressWith(['port', 'host']);
const TCP = row('readiness.tcp', '{ port: 8080 }', '', socket);

export const tcp = {
  schema,
  missing: { port: refuse('the port is missing', 'Write: port: 7234') },
  resolve: ({ host = DEFAULTS.probe.host, port }) => ({ kind: 'tcp', host, port }),
  words: { tcpsocket: TCP, socket: TCP },
  foreign: { tcpsocket: socket },
  open: (question, { parts: { names } }) =>
    inquiry((timeoutMs, signal) =>
      within(timeoutMs, signal, async (deadline) => {
        void hangUp(await connect(question, names, deadline));
        return pass('connected');
      }),
    ),
} satisfies ProbeKind<'tcp', typeof schema>;
