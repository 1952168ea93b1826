/** keepwell daemon: the daemon itself, in the foreground. */
import { Option } from 'commander';
import type { Definition } from '../define.ts';

interface Options {
  readonly onDemand?: true;
}

export const daemon: Definition<Options> = {
  usage: 'daemon',
  group: 'More:',
  summary: 'run the daemon in the foreground (systemd, containers)',
  description:
    '"keepwell up" starts it in the background by itself.\n' +
    'SIGTERM and SIGINT stop components in order; a second one leaves them running. SIGHUP reads the configuration again.',
  options: [new Option('--on-demand', 'start only what was asked for before').hideHelp()],
  examples: [['keepwell daemon', 'start everything the configuration names and stay']],
  // Signals belong to the daemon here: no interrupt() in this file.
  handler: async ({ project, world }, _args, { onDemand = false }) => {
    const { runDaemonMain } = await import('../../daemon/main.ts');
    return await runDaemonMain({ project, env: world.env, onDemand, entry: world.entry });
  },
};
