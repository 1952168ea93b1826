/** keepwell spawn: an agent of a type of the configuration, for a task. */
import { Option } from 'commander';
import { awaitDaemon } from '../await-daemon.ts';
import type { Definition } from '../define.ts';
import { agentLine } from '../print/agents.ts';
import { usage } from '../call.ts';

interface Options {
  readonly task?: string;
}

export const spawn: Definition<Options> = {
  usage: 'spawn TYPE',
  group: 'Run:',
  summary: 'start an agent of a type for a task',
  description:
    'TYPE is a name under "agents.types". The task replaces {task} in the command and stays a single argument, whatever it contains. ' +
    'An agent that crashes is respawned, at most "max_respawns" times for its task; spawning it again resets that count. ' +
    'If an agent of this type already works on the task, the command is refused.',
  options: [new Option('--task <TASK>', 'the task to work on')],
  examples: [
    ['keepwell spawn architect --task SPEC-111', 'start it'],
    ['keepwell agents', 'how is it doing?'],
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
