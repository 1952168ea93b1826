/** keepwell start, stop, restart: for what the configuration names, one by one or all. */
import { Option } from 'commander';
import type { ActionView } from '../../api/control.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';
import { awaitAction, killedIn, requireRemembered } from '../await-action.ts';
import { awaitDaemon } from '../await-daemon.ts';
import type { CliCall } from '../call.ts';
import { type Definition, durationOption } from '../define.ts';
import { requireTargets, resolveTargets } from '../targets.ts';

type Verb = 'start' | 'stop' | 'restart';

interface Options {
  readonly all?: true;
  /** Of restart only. */
  readonly recreate?: true;
  readonly wait: boolean;
  readonly timeout: number;
}

const PAST: Readonly<Record<Verb, string>> = { start: 'started', stop: 'stopped', restart: 'restarted' };

const definition = (
  verb: Verb,
  {
    more = [],
    ...told
  }: Pick<Definition<Options>, 'summary' | 'description' | 'examples'> & {
    readonly more?: readonly Option[];
  },
): Definition<Options> => ({
  usage: `${verb} [NAME...]`,
  group: 'Start, stop, run:',
  ...told,
  options: [
    new Option('-a, --all', 'all components'),
    ...more,
    new Option('--no-wait', 'return at once, do not wait for the outcome'),
    durationOption('--timeout <TIME>', 'how long to wait (then exit 5)', '2m'),
  ],
  handler: (call, names, options) => act(call, verb, names, options),
});

export const start = definition('start', {
  summary: 'start components, and keep them running',
  description: 'Starting by hand resets the restart counters.',
  examples: [
    ['keepwell start worker', 'and wait until it is ready'],
    ['keepwell start --all --no-wait', 'everything, without waiting'],
  ],
});

export const stop = definition('stop', {
  summary: 'stop components; they stay stopped until started again',
  description: 'Components that are stopped by hand stay stopped, also after a reboot. Dependents are stopped first.',
  examples: [
    ['keepwell stop worker', 'and wait until all its processes are gone'],
    ['keepwell stop "web-*"', 'all that match the pattern'],
  ],
});

export const restart = definition('restart', {
  summary: 'stop components and start them again',
  description:
    'Dependents are stopped first and started last. The env_file is read again, the configuration is not: use "keepwell reload" for that.',
  examples: [
    ['keepwell restart api', 'and wait until the new run is ready'],
    ['keepwell restart --all --timeout 5m', 'everything'],
    ['keepwell restart web --recreate', 'with a new container'],
  ],
  more: [new Option('--recreate', 'replace containers, even if nothing about them changed')],
});

async function act(call: CliCall, verb: Verb, patterns: readonly string[], options: Options): Promise<number> {
  requireTargets(patterns, options.all ?? false, verb);
  await awaitDaemon(call);
  const { client } = call;
  const { components: before } = await client.status();
  const known = before.filter(({ removed }) => !removed).map(({ name }) => name);
  if (patterns.includes('all') && !known.includes('all')) {
    const suggestion = ` For all of them: "keepwell ${verb} --all".`;
    throw new AppError('NO_SUCH_COMPONENT', { name: 'all', suggestion });
  }
  const names = options.all ? known : resolveTargets(patterns, known);
  const { last_seq: seq } = await client.listEvents({ limit: 1 });
  const answer = names.length > 0 ? await client.act(verb, names, { recreate: options.recreate ?? false }) : null;
  if (!options.wait) return await asked(call, verb, names, answer);
  const { status, problem } = await awaitAction(call, { action: verb, names, before, timeoutMs: options.timeout });
  for (const line of killedIn((await call.client.listEvents({ after: seq, limit: 1000 })).events)) call.note(line);
  call.printJson({ ...status, components: only(status.components, names) });
  if (problem) throw problem;
  requireRemembered(answer);
  call.print(names.length === 0 ? 'there are no components' : `${PAST[verb]}: ${names.join(', ')}`);
  return 0;
}

async function asked(call: CliCall, verb: Verb, names: readonly string[], answer: ActionView | null): Promise<number> {
  if (call.json) {
    const status = await call.client.status();
    call.printJson({ ...status, components: only(status.components, names) });
  }
  requireRemembered(answer);
  call.print(`asked to ${verb}: ${names.join(', ')}`);
  return 0;
}

const only = (components: readonly ComponentView[], names: readonly string[]): ComponentView[] =>
  components.filter(({ name }) => names.includes(name));
