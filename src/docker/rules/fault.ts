/** Whose fault it is that the Engine did not do what it was asked: told by its words, for its status codes do not tell. */

/**
 * The Engine's own parts, which an error may name together with words that also belong to the container ("no such file"): these
 * are looked for first.
 */
const ENGINE_PARTS = anyOf(
  'no space left|disk quota exceeded|too many open files|cannot allocate memory',
  'containerd\\S*\\.sock|dial unix|failed to start shim|shim (died|exited|disconnected)|transport is closing|ttrpc',
  'runc"?: executable file not found|fork/exec',
  'cgroup|overlay|devmapper|storage driver|layer does not exist|snapshot .* does not exist',
  'could not find (bridge|an available)|network sandbox|iptables|failed to create endpoint',
  'context (deadline exceeded|canceled)|i/o timeout|tls handshake timeout|toomanyrequests',
  'no such host|network is unreachable|connection (refused|reset)',
);

/** Said in the same breath as what the Engine does about ports, but another has the port. */
const PORT_TAKEN = /port is already allocated|address already in use/i;

/** What was asked for cannot be had, whoever tries again. */
const OWN_FAULT = anyOf(
  'unable to start container process|starting container process caused|exec format error',
  'executable file not found|no such file or directory|permission denied|is a directory|not a directory',
  'network .+ not found|no such container|\\binvalid\\b|bind source path does not exist|memory limit too low',
  'unable to find (user|group)|no matching entries in (passwd|group)|could not select device driver',
  'pull access denied|manifest .*unknown|unauthorized|denied: requested access',
);

function anyOf(...patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'i');
}

/** What stands in quotes comes from the configuration: a program may be called "overlay". */
const unquoted = (message: string): string => message.replace(/"(?!runc")[^"\s]*"/g, '');

export type Blame = 'container' | 'engine' | 'untold';

export function blame(message: string): Blame {
  if (PORT_TAKEN.test(message)) return 'container';
  if (ENGINE_PARTS.test(unquoted(message))) return 'engine';
  return OWN_FAULT.test(message) ? 'container' : 'untold';
}
