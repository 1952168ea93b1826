/** keepwell service: the daemon as a systemd service, so that everything is back after a reboot. */
import { Option } from 'commander';
import { didYouMean } from '../../core/suggest.ts';
import type { Definition } from '../define.ts';
import { usage } from '../session.ts';

interface Options {
  readonly user?: true;
  readonly system?: true;
  readonly print?: true;
}

const ACTIONS = ['install', 'uninstall', 'status'] as const;
const MAX_SHOWN = 50;

export const service: Definition<Options> = {
  usage: 'service <install|uninstall|status>',
  group: 'Run:',
  summary: 'let systemd start the daemon with the machine',
  description:
    'install: writes the unit keepwell-PROJECT.service, enables and starts it; a running daemon hands over, components go on\n' +
    'uninstall: stops, disables and removes it\n' +
    'status: whether it is installed, enabled, active, and still fits the paths and the configuration',
  options: [
    new Option('--user', 'a service of your own account (the default, unless you are root)').conflicts('system'),
    new Option('--system', 'a service of the machine (the default for root)'),
    new Option('--print', 'with install: print the unit, write nothing'),
  ],
  examples: [
    ['keepwell service install --user', 'for your own account'],
    ['sudo keepwell service install', 'for the machine, running as the owner of the project'],
    ['keepwell service install --system --print', 'only look at the unit'],
    ['keepwell service status', 'is it installed, and does it still fit?'],
  ],
  handler: async (session, [word = ''], { user, system, print = false }) => {
    const action = ACTIONS.find((one) => one === word);
    if (action === undefined) {
      const shown = word.slice(0, MAX_SHOWN);
      throw usage(`There is no "service ${shown}", only ${ACTIONS.join(', ')}.${didYouMean(shown, ACTIONS)}`);
    }
    if (print && action !== 'install') throw usage('--print goes with "service install" only.');
    const scope = user ? 'user' : system ? 'system' : null;
    const { service: run } = await import('../service/service.ts');
    await run(session, { action, scope, printOnly: print });
    return 0;
  },
};
