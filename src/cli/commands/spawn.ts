/** keepwell spawn: an agent of a type of the configuration, for a task. */
import { Option } from 'commander';
import { awaitDaemon } from '../await-daemon.ts';
import type { Definition } from '../define.ts';
import { agentLine } from '../print/agents.ts';
import { usage } from '../session.ts';

interface Options {
  readonly task?: string;
}

export const spawn: Definition<Options> = {
  usage: 'spawn TYPE',
  group: 'Run:',
  summary: 'spawn an agent of a type for a task',
  description:
    'TYPE is a name under "agents.types". The task takes the place of {task} in its command and stays one argument, whatever it\n' +
    'contains. An agent that crashes is respawned, at most "max_respawns" times for its task; spawning it anew gives a fresh budget.\n' +
    'A task that an agent of this type has already is refused.',
  options: [new Option('--task <TASK>', 'what it is to work on')],
  examples: [
    ['keepwell spawn architect --task SPEC-111', 'begin'],
    ['keepwell agents', 'how is it?'],
  ],
  handler: async (session, [type, ...more], { task }) => {
    if (type === undefined || more.length > 0 || task === undefined)
      throw usage('Write: keepwell spawn TYPE --task TASK');
    await awaitDaemon(session);
    const view = await session.client.spawnAgent({ type, task });
    session.printJson(view);
    session.print(`spawned ${agentLine(view.agent)}`);
    return 0;
  },
};
