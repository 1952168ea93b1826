/** keepwell simulate-crash: a rehearsal. Something really crashes, so that everybody can see what follows. */
import { Option } from 'commander';
import { CRASH_KINDS, type CrashKind } from '../../core/simulate/simulation.ts';
import { awaitDaemon } from '../await-daemon.ts';
import type { Definition } from '../define.ts';
import { usage } from '../session.ts';

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
  summary: 'make a component or an agent crash, to see what follows',
  description:
    'Really does it, at once and without asking; --dry-run only says what it would do.\n\n' +
    'signal: SIGSEGV to the main process (SIGKILL to a container)\n' +
    'hang: SIGSTOP; if a heartbeat, a liveness probe or a health check of Docker would notice\n' +
    'exit, import-error, oom: a stand-in runs in place of the command and dies that way.\n' +
    'A component is restarted for it; an agent is spawned for a task that does not exist.\n' +
    'The command of a container cannot be replaced.\n\n' +
    'The crash is marked as simulated, never counts to the incident of a real one, and is\n' +
    'filed with local trackers only, unless --notify says otherwise. Alerts are sent as always.',
  options: [
    new Option('--component <NAME>', 'a component that runs'),
    new Option('--agent <TYPE>', 'an agent of this type'),
    new Option('--task <ID>', 'with --agent and --kind signal: the agent of this task'),
    new Option('--kind <KIND>', 'how (default: exit; for an agent, import-error)').choices([...CRASH_KINDS]),
    new Option('--dry-run', 'only say what would be done'),
    new Option('--notify', 'trackers outside are told, too'),
  ],
  examples: [
    ['keepwell simulate-crash --agent architect', 'an ImportError: is it respawned, is there a ticket?'],
    ['keepwell simulate-crash --component work-loop --kind hang', 'is a frozen loop noticed?'],
    ['keepwell simulate-crash --component api --kind signal --dry-run', 'what would be done'],
  ],
  handler: async (session, words, { component, agent, task, kind, dryRun, notify }) => {
    if (words.length > 0) throw usage(`Write: keepwell simulate-crash --component ${words[0]!.slice(0, MAX_SHOWN)}`);
    if (!component === !agent) throw usage('Say what is to crash: either --component NAME or --agent TYPE.');
    if (task !== undefined && (agent === undefined || kind !== 'signal'))
      throw usage('--task goes with --agent and --kind signal: it says which of the agents that run is meant.');
    await awaitDaemon(session);
    const view = await session.client.simulateCrash({ component, agent, task, kind, dryRun, notify });
    session.printJson(view);
    for (const step of view.steps) session.print(view.dry_run ? `would: ${step}` : step);
    return 0;
  },
};

const MAX_SHOWN = 63;
