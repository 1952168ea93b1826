/** keepwell service: the daemon as a systemd service, so that everything is back after a reboot. */
import { Option } from 'commander';
import { usage } from '../call.ts';
import { chooseAction, type Definition } from '../define.ts';

interface Options {
  readonly user?: true;
  readonly system?: true;
  readonly print?: true;
}

const ACTIONS = ['install', 'uninstall', 'status'] as const;

export const service: Definition<Options> = {
  usage: 'service <ACTION>',
  onlyHere: 'Log in there (ssh) and run it in the folder of the project: it is about the systemd of the machine.',
  group: 'More:',
  summary: 'run the daemon as a systemd service: install, uninstall, status',
  actions: [
    [
      'install',
      'write the unit keepwell-PROJECT.service, enable and start it; components keep running during the switch',
    ],
    ['uninstall', 'stop, disable and remove the unit'],
    ['status', 'whether the unit is installed, enabled, active and up to date with the configuration and its paths'],
  ],
  options: [
    new Option('--user', 'a user service, for your account (the default unless you are root)').conflicts('system'),
    new Option('--system', 'a system service (the default for root)'),
    new Option('--print', 'with install: only print the unit'),
  ],
  examples: [
    ['keepwell service install --user', 'for your own account'],
    ['sudo keepwell service install', 'as a system service that runs as the owner of the project'],
    ['keepwell service install --system --print', 'only print the unit'],
    ['keepwell service status', 'is it installed and up to date?'],
  ],
  handler: async (call, [word = ''], { user, system, print = false }) => {
    const action = chooseAction('service', ACTIONS, word);
    if (print && action !== 'install') throw usage('--print goes with "service install" only.');
    const scope = user ? 'user' : system ? 'system' : null;
    const { service: run } = await import('../service/service.ts');
    await run(call, { action, scope, printOnly: print });
    return 0;
  },
};
