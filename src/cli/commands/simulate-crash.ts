/** keepwell simulate-crash: a rehearsal. Something really crashes, so that everybody can see what follows. */
import { Option } from 'commander';
import { CRASH_KINDS, type CrashKind } from '../../supervision/rules/simulation.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { usage } from '../call.ts';
import type { Definition } from '../define.ts';

interface Options {
  readonly component?: string;
  readonly agent?: string;
  readonly task?: string;
  readonly kind?: CrashKind;
  readonly dryRun?: true;
  readonly notify?: true;
}

export const simulateCrash: Definition<Options> = {
  usage: 'simulate-crash',
  answersWords: true,
  group: 'More:',
  summary: 'make a component or an agent crash, to see what happens',
  actions: [
    ['--kind signal', 'send SIGSEGV to the main process (to a container SIGKILL)'],
    [
      '--kind hang',
      'send SIGSTOP; refused unless a heartbeat, a timeout, a liveness probe or a Docker health check would notice',
    ],
    [
      '--kind exit, import-error, oom',
      'a stand-in runs instead of the command and dies that way; a component is restarted for it, an agent is spawned for a task that does not exist; not for containers',
    ],
  ],
  description:
    'The crash is real and happens at once, without asking; --dry-run only prints what would be done. ' +
    'It is marked as simulated, never counts towards the incident of a real crash, and is filed with local trackers only, unless --notify is given. Alerts are sent as usual.',
  options: [
    new Option('--component <NAME>', 'a running component'),
    new Option('--agent <TYPE>', 'an agent of this type'),
    new Option('--task <ID>', 'with --agent and --kind signal or hang: the agent of this task'),
    new Option('--kind <KIND>', 'how it crashes (default: exit; for an agent, import-error)').choices([...CRASH_KINDS]),
    new Option('--dry-run', 'only print what would be done'),
    new Option('--notify', 'also file it with external trackers'),
  ],
  examples: [
    ['keepwell simulate-crash --agent architect', 'an ImportError: is it respawned, is there a ticket?'],
    ['keepwell simulate-crash --component work-loop --kind hang', 'is a frozen loop noticed?'],
    ['keepwell simulate-crash --agent architect --kind hang', 'is a frozen agent noticed?'],
    ['keepwell simulate-crash --component api --kind signal --dry-run', 'what would be done'],
  ],
  handler: async (call, words, { component, agent, task, kind, dryRun, notify }) => {
    if (words.length > 0) throw usage(`Write: keepwell simulate-crash --component ${words[0]!.slice(0, MAX_SHOWN)}`);
    if (!component === !agent) throw usage('Say what is to crash: either --component NAME or --agent TYPE.');
    if (task !== undefined && (agent === undefined || (kind !== 'signal' && kind !== 'hang')))
      throw usage('--task goes with --agent and --kind signal or hang: it says which of the agents that run is meant.');
    await awaitDaemon(call);
    const view = await call.client.simulateCrash({ component, agent, task, kind, dryRun, notify });
    call.printJson(view);
    for (const step of view.steps) call.print(view.dry_run ? `would: ${step}` : step);
    return 0;
  },
};

const MAX_SHOWN = 63;
