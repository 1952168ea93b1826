/** The few words of shell in front of a short command: they give it what a component gets, then are replaced by it. */
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { Command } from '../../../base/command.ts';
import type { Account } from '../account/account.ts';
import { becoming } from '../account/become.ts';
import { notBecome, notExecuted } from '../command/exec-failure.ts';
import { oddVariables } from '../command/odd-variables.ts';
import type { Tools } from '../shim/tools.ts';

/** What the shell calls itself when it complains, so that its words can be told from the command's. */
const NAME = 'keepwell';

/** Arguments: soft limit of open files, cgroup to join, then the command; a dash for none. */
const SCRIPT = `[ "$1" = - ] || ulimit -S -n "$1" 2>/dev/null
ulimit -S -c 0 2>/dev/null
[ "$2" = - ] || { printf 0 >"$2/cgroup.procs"; } 2>/dev/null
shift 2
exec "$@"`;

export interface Wrapping {
  readonly tools: Pick<Tools, 'sh' | 'env' | 'setpriv'>;
  readonly softNofile: number | null;
  readonly cgroup: string | null;
  /** Whose command it is; null: the daemon's own. */
  readonly account: Account | null;
}

export function commandLine({ command, env }: Pick<Command, 'command' | 'env'>, wrapping: Wrapping): readonly string[] {
  const { tools, softNofile, cgroup, account } = wrapping;
  const way = account === null ? oddVariables(env, tools) : becoming(account, tools);
  return ['-c', SCRIPT, NAME, String(softNofile ?? '-'), cgroup ?? '-', ...way, ...command];
}

export interface HandOver {
  readonly code: number | null;
  readonly output: string;
  readonly program: string;
  /** For sentences; null: it was not to become somebody else. */
  readonly account: string | null;
}

/** Why the shell could not hand over to the command, or null when this is the command's own end. */
export function handOverProblem({ code, output, program, account }: HandOver): SpawnProblem | null {
  const [line = ''] = output.split('\n');
  if (account !== null && code !== 0 && line.startsWith('setpriv: ')) return notBecome(line, account);
  return (code === 126 || code === 127) && line.startsWith(`${NAME}: `) ? notExecuted(line, program) : null;
}
