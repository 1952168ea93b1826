/** keepwell daemon: the daemon itself, in the foreground. */
import { Option } from 'commander';
import { homePaths, type Project, readDaemonFile } from '../../base/home.ts';
import type { Definition } from '../define.ts';

interface Options {
  readonly onDemand?: true;
  readonly livez?: true;
}

/** How long the guardian's question waits for an answer that takes a millisecond. */
const ANSWER_WITHIN_MS = 5_000;
const SILENT = 1;
const NOT_UP = 2;

export const daemon: Definition<Options> = {
  usage: 'daemon',
  onlyHere:
    'Log in there (ssh) and run it in the folder of the project, or install it there with "keepwell service install".',
  group: 'More:',
  summary: 'run the daemon in the foreground (systemd, containers)',
  description:
    '"keepwell up" starts the daemon in the background by itself. SIGTERM and SIGINT stop components in order; a second signal leaves them running. SIGHUP reads the configuration again.',
  options: [
    new Option('--on-demand', 'start only what was asked for before').hideHelp(),
    new Option('--livez', 'ask the running daemon whether it is responsive').hideHelp(),
  ],
  examples: [['keepwell daemon', 'start everything in the configuration and stay in the foreground']],
  // Signals belong to the daemon here: no interrupt() in this file.
  handler: async ({ project, world }, _args, { onDemand = false, livez: asks = false }) => {
    if (asks) return await askLivez(project);
    const { runDaemonMain } = await import('../../daemon/main.ts');
    return await runDaemonMain({ project, env: world.env, onDemand, entry: world.entry });
  },
};

async function askLivez(project: Project): Promise<number> {
  const { livez } = await import('../../daemon/launch.ts');
  const socket = readDaemonFile(homePaths(project.home))?.socket;
  if (socket === undefined) return NOT_UP;
  const answer = await livez(socket, ANSWER_WITHIN_MS);
  return answer === 'answers' ? 0 : answer === 'silent' ? SILENT : NOT_UP;
}
