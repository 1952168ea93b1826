/** Passes when a command exits with 0. It sees what the component sees, and runs as the same user; for a container, inside it. */

import type { Command, CommandResult, CommandRunner } from '../base/command.ts';
import type { SpawnProblem } from '../base/pure/exit.ts';
import { formatDuration } from '../base/pure/format.ts';
import type { RunId } from '../base/pure/ids.ts';
import { redact, secretValues } from '../base/pure/redact.ts';
import type { ContainerEngine } from '../docker/ports.ts';
import type { Inquiry, ProbeTarget } from '../supervision/ports/prober.ts';
import type { Answer, ProbeQuestion } from '../supervision/rules/health/probe.ts';
import { runsInContainer } from '../supervision/spec.ts';
import { fail, inconclusive, lastLine, pass } from './answers.ts';
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

// Runs the command of a probe inside the container of its run.

export interface InsideParts {
  readonly engine: Pick<ContainerEngine, 'exec'>;
  /** The id of the container of this run; null: none is known. */
  containerOf(run: RunId): string | null;
}

interface Asked {
  readonly command: readonly string[];
  readonly run: RunId;
  readonly timeoutMs: number;
  /** Never shown. */
  readonly secrets: readonly string[];
}

/** A longer Node timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** What the Engine says of a container in which nothing can be run just now. Whether it has ended is told by others. */
const NOT_NOW = /is not running|is paused|is restarting|no such container/i;

export async function askInside(asked: Asked, signal: AbortSignal, inside: InsideParts | undefined): Promise<Answer> {
  const { command, run, timeoutMs, secrets } = asked;
  const id = inside?.containerOf(run) ?? null;
  if (!inside || id === null) return inconclusive('its container is not known yet');
  const end = new AbortController();
  const abort = () => end.abort();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, MAX_TIMER_MS));
  try {
    const result = await inside.engine.exec(id, command, end.signal);
    switch (result.kind) {
      case 'exited':
        return result.code === 0 ? pass('exit code 0') : failed(`exit code ${result.code}`, result.output, secrets);
      case 'called-off':
        return fail(`no answer within ${formatDuration(timeoutMs)}${result.left === null ? '' : `; ${result.left}`}`);
      case 'not-started':
        return NOT_NOW.test(result.why) ? inconclusive(result.why) : fail(result.why);
      case 'unreachable':
        return inconclusive(result.why);
      default:
        throw new Error(`no such result: ${JSON.stringify(result satisfies never)}`);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** How a command failed, and the last thing it said. */
export function failed(how: string, output: string, secrets: readonly string[]): Answer {
  const said = lastLine(redact(output, secrets));
  return fail(said === '' ? how : `${how}: ${said}`);
}
