/** keepwell version: of this program, and of the daemon if one runs. */

import type { Session } from '../call.ts';
import type { Definition } from '../define.ts';

export const version: Definition<object> = {
  usage: 'version',
  group: 'More:',
  summary: 'the version of this program and of the running daemon',
  examples: [['keepwell version -o json', 'for scripts']],
  handler: async (session) => {
    const mine = session.world.version;
    const daemon = await daemonVersion(session);
    session.printJson({ schema_version: 1, version: mine, node: session.world.node, daemon });
    session.print(`keepwell ${mine} (Node ${session.world.node})`);
    if (daemon !== null)
      session.print(`the running daemon is ${daemon}${daemon === mine ? '' : '; "keepwell up" replaces it'}`);
    return 0;
  },
};

/** Null: none, or none that answers, or no project here at all. None of that is a reason not to say one's own version. */
async function daemonVersion(session: Session): Promise<string | null> {
  try {
    return await session.client.version();
  } catch {
    return null;
  }
}
