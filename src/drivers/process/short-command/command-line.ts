/** The few words of shell in front of a short command: they give it what a component gets, then are replaced by it. */
import type { SpawnProblem } from '../../../core/exit.ts';
import type { Command } from '../../../ports/command.ts';
import { notExecuted } from '../command/exec-failure.ts';
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
  readonly tools: Pick<Tools, 'sh' | 'env'>;
  readonly softNofile: number | null;
  readonly cgroup: string | null;
}

export function commandLine({ command, env }: Pick<Command, 'command' | 'env'>, wrapping: Wrapping): readonly string[] {
  const { tools, softNofile, cgroup } = wrapping;
  return ['-c', SCRIPT, NAME, String(softNofile ?? '-'), cgroup ?? '-', ...oddVariables(env, tools), ...command];
}

/** Why the shell could not hand over to the command, or null when this is the command's own end. */
export function handOverProblem(code: number | null, output: string, program: string): SpawnProblem | null {
  if ((code !== 126 && code !== 127) || !output.startsWith(`${NAME}: `)) return null;
  const [line = ''] = output.split('\n');
  return notExecuted(line, program);
}
