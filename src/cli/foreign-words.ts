/** What people type who come from PM2, Compose, systemd or kubectl, and what that is called here. */

/** By the word that was typed as a command. */
const COMMANDS: Readonly<Record<string, string>> = {
  list: 'keepwell status',
  get: 'keepwell status',
  top: 'keepwell status --watch',
  monit: 'keepwell status --watch',
  monitor: 'keepwell status --watch',
  describe: 'keepwell status NAME --verbose',
  show: 'keepwell status NAME --verbose',
  inspect: 'keepwell status NAME --verbose',
  tail: 'keepwell logs -f',
  journal: 'keepwell logs',
  config: 'keepwell validate',
  check: 'keepwell health", of agents "keepwell agents check", of the configuration "keepwell validate',
  convert: 'keepwell init',
  create: 'keepwell up',
  apply: 'keepwell reload',
  run: 'keepwell up',
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
    'Take the component out of the configuration, then "keepwell reload"; "keepwell stop NAME" only stops it, until you start it again.',
  save: 'There is nothing to save: what runs and what was stopped by hand is remembered, also after a reboot.',
  exec: 'Keepwell runs nothing inside a component; for a container use "docker exec" ("keepwell status --verbose" shows its name).',
  attach: 'A component has no terminal; its output is "keepwell logs NAME -f".',
  flush: 'Logs are rotated automatically (max_size, keep); see the guide to logs.',
};
const SAME: Readonly<Record<string, string>> = { del: 'delete', rm: 'delete', remove: 'delete', unregister: 'delete' };

/** By the option that was typed; with a command in front of it where only that one is meant. */
const OPTIONS: Readonly<Record<string, string>> = {
  '--json': 'Write -o json.',
  '--format': 'Write -o json, or -o text.',
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
