/** What people type who come from PM2, Compose, supervisord, systemd or kubectl, and what that is called here. */

/** By the word that was typed as a command. */
const COMMANDS: Readonly<Record<string, string>> = {
  list: 'keepwell status',
  get: 'keepwell status',
  avail: 'keepwell status',
  pid: 'keepwell status',
  id: 'keepwell status',
  jlist: 'keepwell status -o json',
  prettylist: 'keepwell status -o json',
  stats: 'keepwell top',
  monit: 'keepwell top',
  monitor: 'keepwell top',
  describe: 'keepwell status NAME --verbose',
  show: 'keepwell status NAME --verbose',
  inspect: 'keepwell status NAME --verbose',
  info: 'keepwell status NAME --verbose',
  tail: 'keepwell logs -f',
  journal: 'keepwell logs',
  config: 'keepwell validate',
  check: 'keepwell health", of agents "keepwell agents check", of the configuration "keepwell validate',
  convert: 'keepwell init',
  ecosystem: 'keepwell init',
  reread: 'keepwell reload --dry-run',
  update: 'keepwell reload',
  rollout: 'keepwell restart NAME", or after editing the configuration "keepwell reload',
  maintail: 'keepwell logs --daemon',
  fg: 'keepwell logs NAME -f',
  bash: 'keepwell exec NAME -- bash',
  shell: 'keepwell exec NAME -- sh',
  env: 'keepwell exec NAME -- env',
  create: 'keepwell up',
  apply: 'keepwell reload',
  resurrect: 'keepwell up',
  kill: 'keepwell down" (everything, and the daemon) or "keepwell stop NAME',
  shutdown: 'keepwell down',
  quit: 'keepwell down',
  enable: 'keepwell service install',
  startup: 'keepwell service install',
  disable: 'keepwell service uninstall',
  unstartup: 'keepwell service uninstall',
  scale: 'keepwell reload", after editing the configuration, or "keepwell spawn',
};

/** Those that need a sentence. */
const SENTENCES: Readonly<Record<string, string>> = {
  delete:
    'Take the component out of the configuration, then "keepwell reload"; what "keepwell run" keeps is removed by "keepwell rm NAME". "keepwell stop NAME" only stops it, until you start it again.',
  save: 'There is nothing to save: what runs and what was stopped by hand is remembered, also after a reboot.',
  pause:
    'Keepwell does not freeze components: "keepwell stop NAME" ends one, and "keepwell start NAME" starts it again.',
  signal:
    'Send it yourself: "keepwell status" shows the pid. To end or restart a component: "keepwell stop NAME", "keepwell restart NAME".',
  attach: 'A component has no terminal; its output is "keepwell logs NAME -f".',
  flush: 'Logs are rotated automatically (max_size, keep); see the guide to logs.',
};
const SAME: Readonly<Record<string, string>> = {
  del: 'delete',
  remove: 'delete',
  unregister: 'delete',
  dump: 'save',
  unpause: 'pause',
  clear: 'flush',
  sendSignal: 'signal',
};

/** By the option that was typed; with a command in front of it where only that one is meant. */
const OPTIONS: Readonly<Record<string, string>> = {
  '--json': 'Write -o json.',
  '--format': 'Write -o json, or -o text.',
  '--quiet': 'Write -o json, or look at the exit code: keepwell status --exit-code.',
  '--raw': 'Nothing is put in front of the lines of a single component.',
  '--err': 'Both outputs of a component are one log.',
  '--out': 'Both outputs of a component are one log.',
  '--nostream': 'Without -f nothing is followed.',
  '--all-containers': 'Write --all.',
  '--namespace':
    'A project is the folder of its configuration: give that with --file FILE, or another machine with -H HOST.',
  '--project-name': 'A project is the folder of its configuration: give that with --file FILE.',
  '--update-env': 'Variables are read again at each start; after editing the configuration: keepwell reload.',
  '--build': 'Keepwell builds no images: build it, then "keepwell up" uses the new one.',
  '--force-recreate': 'Write keepwell restart NAME.',
  '--remove-orphans': 'What left the configuration is stopped by "keepwell up" and "keepwell reload".',
  '--volumes': 'Keepwell removes no volumes.',
  '--cron': 'Keepwell does not start anything at times of day; use cron with "keepwell restart NAME".',
  '--lines': 'Write -n N, or --tail N.',
  '-c': 'Give the configuration with -f FILE (after "logs" and "events": --file FILE).',
  '--config': 'Give the configuration with --file FILE.',
  '-v': 'For the version write -V or --version; "keepwell status -v" shows all details.',
  'crashes --since': 'Write --last 5m.',
  'health --component': 'Write the name alone: keepwell health NAME.',
};

/** What a word that is no command is called here; null: nobody else's word either. */
export function foreignCommand(word: string): string | null {
  const known = SAME[word] ?? word;
  if (Object.hasOwn(SENTENCES, known)) return `There is no command "${word}". ${SENTENCES[known]}`;
  return Object.hasOwn(COMMANDS, word) ? `There is no command "${word}". Use "${COMMANDS[word]}".` : null;
}

/** `command`: the one that the option was given to; empty: none. */
export function foreignOption(option: string, command: string): string | null {
  const name = option.split('=')[0]!;
  const meant = OPTIONS[`${command} ${name}`] ?? (Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined);
  return meant === undefined ? null : `There is no option ${name} here. ${meant}`;
}
