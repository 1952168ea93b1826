/** The signals of Linux by name. Listed here because the configuration is checked without asking the machine. */
import type { SignalName } from '../base/pure/exit.ts';

/** Cannot end a process: they are ignored unless handled, or stop and resume it. */
const NEVER_FATAL = ['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU'] as const;

const FATAL = [
  ...[
    'SIGHUP',
    'SIGINT',
    'SIGQUIT',
    'SIGILL',
    'SIGTRAP',
    'SIGABRT',
    'SIGBUS',
    'SIGFPE',
    'SIGKILL',
    'SIGUSR1',
    'SIGSEGV',
  ],
  ...['SIGUSR2', 'SIGPIPE', 'SIGALRM', 'SIGTERM', 'SIGSTKFLT', 'SIGXCPU', 'SIGXFSZ', 'SIGVTALRM', 'SIGPROF', 'SIGIO'],
  ...['SIGPWR', 'SIGSYS'],
];

/** Second names of the same number. A death is recorded under the first name, so the second would never match. */
export const SIGNAL_ALIASES: Readonly<Record<string, SignalName>> = {
  SIGIOT: 'SIGABRT',
  SIGPOLL: 'SIGIO',
  SIGCLD: 'SIGCHLD',
};

/** What a run can die of. */
export const FATAL_SIGNALS: readonly string[] = FATAL;

/** What a component can be asked to end with: those that freeze it instead are left out, the ignored ones a program may handle. */
export const STOP_SIGNALS: readonly string[] = [...FATAL, 'SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH'];

export const ALL_SIGNALS: readonly string[] = [...FATAL, ...NEVER_FATAL];
