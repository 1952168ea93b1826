/** keepwell beat: a component or an agent says that it goes on. Quiet and quick, because programs call it in their loops. */
import { createClient } from '../../api/client/client.ts';
import { componentOfRun } from '../../base/pure/ids.ts';
import { type CliCall, usage } from '../call.ts';
import type { Definition } from '../define.ts';

export const beat: Definition<Record<never, never>> = {
  usage: 'beat [NAME]',
  group: 'Start, stop, run:',
  summary: 'send a heartbeat for a component or an agent (heartbeat: { ping: true })',
  description:
    'For components and agents with "heartbeat: { ping: true }". Inside such a component or agent the name can be left out, and the command works from any folder. It prints nothing. Exit codes: 0 received, 3 the daemon or the component is not running, 4 no such component.',
  examples: [
    ['keepwell beat worker', 'after each piece of work'],
    ['keepwell beat || true', 'inside the component, in a script that must continue in any case'],
  ],
  handler: async (call, [given]) => {
    const name = given ?? ownName(call);
    const answer = await clientOf(call).beat(name);
    call.printJson(answer);
    return 0;
  },
};

/** Every process of a run knows whose it is. */
function ownName({ world }: CliCall): string {
  const own = componentOfRun(world.env['KEEPWELL_RUN'] ?? '');
  if (own === null)
    throw usage(
      'Name the component: "keepwell beat NAME". The name can be left out only inside a component or an agent.',
    );
  return own;
}

/** Components know the socket: they may run in a folder from where no configuration is found. */
function clientOf(call: CliCall) {
  const socket = call.world.env['KEEPWELL_SOCKET'];
  return socket && call.files.length === 0 && call.host === null ? createClient(socket) : call.client;
}
