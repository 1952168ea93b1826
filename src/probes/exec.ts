/** Passes when a command exits with 0. It sees what the component sees, and runs as the same user; for a container, inside it. */
import { runsInContainer } from '../supervision/spec.ts';
import type { SpawnProblem } from '../base/pure/exit.ts';
import { formatDuration } from '../base/pure/format.ts';
import type { Answer, ProbeQuestion } from '../supervision/rules/health/probe.ts';
import { secretValues } from '../base/pure/redact.ts';
import type { Command, CommandResult, CommandRunner } from '../base/command.ts';
import type { Inquiry, ProbeTarget } from '../supervision/ports/prober.ts';
import { fail, inconclusive, pass } from './answers.ts';
import { askInside, failed, type InsideParts } from './exec-inside.ts';
import { inquiry } from './inquiry.ts';

type ExecQuestion = Extract<ProbeQuestion, { kind: 'exec' }>;
type Env = Readonly<Record<string, string>>;

export interface ExecParts {
  /** Absent: none of those asked about is a container. */
  readonly inside?: InsideParts;
  readonly commands: CommandRunner;
  environmentOf(spec: ProbeTarget['spec']): { readonly env: Env } | SpawnProblem;
}

export const execInquiry = ({ command, cwd }: ExecQuestion, { spec, run }: ProbeTarget, parts: ExecParts): Inquiry =>
  inquiry(async (timeoutMs, signal) => {
    const environment = parts.environmentOf(spec);
    if (runsInContainer(spec.driver)) {
      const secrets = secretValues('env' in environment ? environment.env : spec.driver.env);
      return askInside({ command, run, timeoutMs, secrets }, signal, parts.inside);
    }
    // The files of its environment have changed since it began: no fault of the one that runs.
    if (!('env' in environment)) return inconclusive(environment.message);
    const { env } = environment;
    const result = await parts.commands.run({ command, cwd, env, timeoutMs, signal, ...accountOf(spec) });
    return judge(result, timeoutMs, env);
  });

function accountOf({ driver }: ProbeTarget['spec']): Pick<Command, 'user' | 'group'> {
  if (driver.kind !== 'process') return {};
  const { user, group } = driver;
  return { ...(user === undefined ? {} : { user }), ...(group === undefined ? {} : { group }) };
}

function judge(result: CommandResult, timeoutMs: number, env: Env): Answer {
  if (result.kind === 'timed-out') return fail(`no answer within ${formatDuration(timeoutMs)}`);
  if (result.kind === 'not-started') {
    return result.problem.heals ? inconclusive(result.problem.message) : fail(result.problem.message);
  }
  const { code, signal, output } = result;
  if (code === 0) return pass('exit code 0');
  return failed(signal === null ? `exit code ${code}` : `killed by ${signal}`, output, secretValues(env));
}
