/** keepwell status: how everything is, also when no daemon runs. */
import { Option } from 'commander';
import type { ComponentView, StatusView } from '../../supervision/rules/views.ts';
import { wellbeing } from '../../supervision/rules/wellbeing.ts';
import { type CliCall, usage } from '../call.ts';
import { type Definition, durationOption } from '../define.ts';
import {
  daemonLine,
  daemonRemarks,
  historyTable,
  keepingLine,
  sessionsLine,
  statusTable,
  verboseBlock,
} from '../print/status.ts';
import { offlineNote, type RecordsAnswer, readNoted, readRecords } from '../records.ts';
import { showAgain } from '../screen.ts';
import { resolveTargets } from '../targets.ts';

interface Options {
  readonly verbose?: true;
  readonly exitCode?: true;
  readonly watch?: true;
  readonly history?: true;
  readonly since?: number;
  readonly fleet?: true;
  readonly timeout?: number;
}

const WATCH_MS = 1_000;

export const status: Definition<Options> = {
  usage: 'status [NAME...]',
  aliases: ['ps', 'ls'],
  group: 'Every day:',
  summary: 'show the state of every component',
  description:
    'Without a daemon it reads the records and /proc, and says so. ' +
    'The exit code is 0 whenever there was an answer. With --exit-code it is 0 when every component that should run is ' +
    'healthy and ready or has completed, 1 when one is unhealthy, not ready, frozen, has given up or is unknown, ' +
    'and 3 when one is not up yet or not running. Components stopped by hand do not count here; "keepwell health" counts them.',
  options: [
    new Option('-v, --verbose', 'everything that is known about each component'),
    new Option('--exit-code', 'exit 1 when something is unhealthy, not ready or unknown, 3 when it is not running'),
    new Option('-w, --watch', 'repeat every second until Ctrl-C'),
    new Option('--history', 'what one component has used: CPU, memory, files, threads').conflicts([
      'watch',
      'verbose',
      'exitCode',
    ]),
    new Option(
      '--fleet',
      'of all hosts (of store.fleet, otherwise of the list of hosts); exit 1 when one does not answer',
    ).conflicts(['watch', 'verbose', 'history']),
    durationOption('--timeout <TIME>', 'with --fleet: how long each host may take (default: 10s)'),
    durationOption('--since <TIME>', 'with --history: the last 10m, 12h, 7d (default: 1h)'),
  ],
  examples: [
    ['keepwell status', 'all components'],
    ['keepwell status "web-*" --verbose', 'some of them, with all details'],
    ['keepwell status -o json | jq .components[].state', 'for scripts'],
    ['keepwell status api --history --since 12h', 'what it used in the last 12 hours'],
    ['keepwell status --fleet', 'all hosts in one table'],
    ['keepwell status --exit-code', 'for monitoring: 0 all well, 1 not well or unknown, 3 not running'],
  ],
  handler: async (call, names, options) => {
    if (options.history) return await showUsageHistory(call, names, options.since);
    if (options.since !== undefined) throw usage('--since goes with --history');
    if (options.fleet) return await (await import('../fleet.ts')).fleetStatus(call, names, options);
    if (options.timeout !== undefined) throw usage('--timeout goes with --fleet');
    if (options.watch) return await watch(call, names, options);
    const reading = await read(call, names);
    if (reading.offline !== null) call.note(remark(reading));
    call.printJson(reading.value);
    call.print(...lines(call, reading.value, options));
    return options.exitCode ? exitCodeOf(reading.value.components) : 0;
  },
};

async function read(call: CliCall, names: readonly string[]): Promise<RecordsAnswer<StatusView>> {
  return await readRecords(call, async (records) => {
    const all = await records.status();
    if (names.length === 0) return all;
    const chosen = resolveTargets(
      names,
      all.components.map(({ name }) => name),
    );
    return { ...all, components: all.components.filter(({ name }) => chosen.includes(name)) };
  });
}

function remark({ value, offline }: RecordsAnswer<StatusView>): string {
  if (value.components.length > 0) return offlineNote(offline!);
  return `${offline}, and nothing is recorded yet; run "keepwell up"`;
}

function lines(call: CliCall, view: StatusView, { verbose }: Options): string[] {
  const { paint } = call;
  const remarks = daemonRemarks(view);
  const sessions = sessionsLine(view.daemon);
  if (verbose) {
    const blocks = view.components.flatMap((one) => [...verboseBlock(one, paint, Date.now()), '']);
    return [...blocks, daemonLine(view.daemon), ...keepingLine(view.daemon), ...sessions, ...remarks];
  }
  if (view.components.length === 0) return view.daemon.running ? ['no components', ...sessions, ...remarks] : [];
  return [...statusTable(view.components, paint, call.columns), ...sessions, ...remarks];
}

const EXIT_SICK = 1;
const EXIT_DOWN = 3;

/** One that cannot be relied on is worse news than one that is not (yet) up. What somebody stopped is as it should be. */
export function exitCodeOf(components: readonly ComponentView[]): number {
  const kinds = new Set(components.map((view) => wellbeing(view).kind));
  if (kinds.has('sick')) return EXIT_SICK;
  return kinds.has('down') ? EXIT_DOWN : 0;
}

const watch = (call: CliCall, names: readonly string[], options: Options): Promise<never> =>
  showAgain(call, WATCH_MS, async () => {
    const reading = await read(call, names);
    const offline = reading.offline === null ? [] : [remark(reading), ''];
    return { value: reading.value, lines: [...offline, ...lines(call, reading.value, options)] };
  });

// keepwell status NAME --history: what a component used, also when no daemon runs.

const DEFAULT_SINCE_MS = 60 * 60 * 1000;
/** As many as the daemon keeps of a component. */
const MAX_STRETCHES = 2_000;

export async function showUsageHistory(call: CliCall, names: readonly string[], sinceMs: number = DEFAULT_SINCE_MS) {
  const [component] = names;
  if (component === undefined || names.length > 1) {
    throw usage('--history shows one component: keepwell status NAME --history');
  }
  const from = Math.max(0, Date.now() - sinceMs);
  const { value } = await readNoted(call, (records) =>
    records.samples({ component, sinceMs: from, limit: MAX_STRETCHES }),
  );
  call.printJson(value);
  if (value.samples.length === 0)
    call.print(`nothing was recorded of ${component} in this time; --since 1d looks further back`);
  else call.print(...historyTable(value.samples));
  return 0;
}
