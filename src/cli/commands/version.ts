/** keepwell version: of this program, and of the daemon if one runs. */

import type { CliCall } from '../call.ts';
import type { Definition } from '../define.ts';

export const version: Definition<object> = {
  usage: 'version',
  group: 'More:',
  summary: 'the version of this program and of the running daemon',
  examples: [['keepwell version -o json', 'for scripts']],
  handler: async (call) => {
    const mine = call.world.version;
    const daemon = await daemonVersion(call);
    call.printJson({ schema_version: 1, version: mine, node: call.world.node, daemon });
    call.print(`keepwell ${mine} (Node ${call.world.node})`);
    if (daemon !== null)
      call.print(`the running daemon is ${daemon}${daemon === mine ? '' : '; "keepwell up" replaces it'}`);
    return 0;
  },
};

/** Null: none, or none that answers, or no project here at all. None of that is a reason not to say one's own version, unless another machine is asked. */
async function daemonVersion(call: CliCall): Promise<string | null> {
  try {
    return await call.client.version();
  } catch (error) {
    if (call.host !== null) throw error;
    return null;
  }
}
