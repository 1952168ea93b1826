/** Passes when a command exits with 0. It sees what the component sees, and runs as the same user; for a container, inside it. */

import { z } from 'zod';
import type { Command, CommandResult } from '../../base/command.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { RunId } from '../../base/pure/ids.ts';
import { redact, secretValues } from '../../base/pure/redact.ts';
import { nodeAt } from '../../config/draft.ts';
import { boolean, optional, path, text } from '../../config/leaves.ts';
import { refuse } from '../../config/readers.ts';
import { checkCommand } from '../../config/validation/command.ts';
import { commandText, flowList, isGiven, type Ours, row } from '../../config/words/argv.ts';
import type { ProbeTarget } from '../../supervision/ports/prober.ts';
import type { Answer } from '../../supervision/rules/health/probe.ts';
import { runsInContainer } from '../../supervision/spec.ts';
import { fail, inconclusive, inquiry, lastLine, pass } from '../inquiry.ts';
import type { InsideParts, ProbeKind } from '../kind.ts';

type Env = Readonly<Record<string, string>>;

const schema = optional(
  z
    .strictObject({
      command: z.union([z.array(text), text]).meta({
        description:
          'The program and its arguments, one list item each; it passes when it exits with 0. One text instead of a list only with `shell: true`.',
        example: ['./bin/check', '--quick'],
      }),
      shell: optional(boolean, {
        description: 'Run the command, given as one text, with `/bin/sh -c`.',
        defaultsTo: false,
        example: true,
      }),
      cwd: optional(path, {
        description: 'Its working directory, relative to the folder of the first configuration file.',
        defaultNote: 'that of the component',
        example: './server',
      }),
    })
    .meta({ id: 'probe-exec' }),
  { description: 'Run a command; code 0 passes.', defaultNote: 'none', example: { command: ['./bin/check'] } },
);

const WHOLE = row('readiness.exec', '{ command: [./bin/check] }');
const COMMAND = row('readiness.exec.command', '[./bin/check]', '', commandText);
const CWD = row('readiness.exec.cwd', '*', './server');

/** Of Kubernetes, where it is a map, and of whoever writes the bare command. */
const foreign: Ours['put'] = (node) => {
  const command = node.kind === 'map' ? node.entries.get('command')?.value : node;
  return command && command.kind !== 'map' ? `{ command: ${commandText(command)} }` : null;
};

/** Docker's `test`: a text is for a shell; a list says so in its first word. */
const test: Ours['put'] = (node) => {
  if (node.kind !== 'list') return isGiven(node) ? foreign(node) : null;
  const [first, ...rest] = node.items.map((item) => (isGiven(item) ? item.source : ''));
  if (first === 'CMD') return rest.length === 0 ? null : `{ command: ${flowList(rest)} }`;
  return first === 'CMD-SHELL' && rest.length === 1 ? foreign(node.items[1]!) : null;
};

export const exec = {
  schema,
  missing: { command: refuse('the command is missing', 'Write: command: [./bin/check]') },
  check: (config, written, path, say) => {
    const wrong = checkCommand(config, nodeAt(written, ['command']), '[./bin/check]');
    if (wrong) say([...path, 'command', ...wrong.path], wrong.message, wrong.hint);
  },
  resolve: ({ command, cwd }, home) => ({
    kind: 'exec',
    command: typeof command === 'string' ? ['/bin/sh', '-c', command] : command,
    cwd: cwd === undefined ? home.cwd : home.absolute(cwd),
  }),
  words: {
    ...{ exec: WHOLE, test: row('readiness.exec', '{ command: [./bin/check] }', '', test) },
    ...{ script: COMMAND, cmd: COMMAND, run: COMMAND, args: COMMAND, argv: COMMAND },
    ...{ workingdir: CWD, workdir: CWD, directory: CWD, dir: CWD, workingdirectory: CWD },
  },
  forms: {
    '': (node) =>
      node.kind === 'list' || isGiven(node)
        ? refuse('must be a map, not a bare command', `Write: exec: { command: ${commandText(node)} }`)
        : null,
  },
  foreign: { exec: foreign, test },
  open: ({ command, cwd }, { target: { spec, run }, parts }) =>
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
    }),
} satisfies ProbeKind<'exec', typeof schema>;

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

async function askInside(asked: Asked, signal: AbortSignal, inside: InsideParts | undefined): Promise<Answer> {
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
function failed(how: string, output: string, secrets: readonly string[]): Answer {
  const said = lastLine(redact(output, secrets));
  return fail(said === '' ? how : `${how}: ${said}`);
}
