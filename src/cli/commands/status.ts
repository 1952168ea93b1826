/** keepwell status: how everything is, also when no daemon runs. */
import { Option } from 'commander';
import type { ComponentView, StatusView } from '../../core/views.ts';
import { type Definition, durationOption } from '../define.ts';
import { daemonLine, daemonRemarks, keepingLine, sessionsLine, statusTable } from '../print/status.ts';
import { verboseBlock } from '../print/verbose.ts';
import { offlineNote, type Reading, readRecords } from '../records/read.ts';
import { showAgain } from '../screen.ts';
import { type Session, usage } from '../session.ts';
import { resolveTargets } from '../targets.ts';
import { showUsageHistory } from '../usage-history.ts';

interface Options {
  readonly verbose?: true;
  readonly exitCode?: true;
  readonly watch?: true;
  readonly history?: true;
  readonly since?: number;
}

const WATCH_MS = 1_000;

export const status: Definition<Options> = {
  usage: 'status [NAME...]',
  aliases: ['ps', 'ls'],
  group: 'Look:',
  summary: 'how every component is right now',
  description:
    'Works without a daemon too: then the records and /proc are read, and it says so.\n' +
    'The exit code is 0 whenever it answered; --exit-code makes it tell how things are.',
  options: [
    new Option('-v, --verbose', 'everything that is known about each'),
    new Option('--exit-code', 'exit 1 when something is unhealthy, 3 when something wanted is not running'),
    new Option('-w, --watch', 'again every second, until Ctrl-C'),
    new Option('--history', 'what one component used: CPU, memory, files, threads').conflicts([
      'watch',
      'verbose',
      'exitCode',
    ]),
    durationOption('--since <TIME>', 'with --history: the last 10m, 12h, 7d (default: 1h)'),
  ],
  examples: [
    ['keepwell status', 'all components'],
    ['keepwell status "web-*" --verbose', 'some of them, in full'],
    ['keepwell status -o json | jq .components[].state', 'for scripts'],
    ['keepwell status api --history --since 12h', 'what it used since this morning'],
    ['keepwell status --exit-code', 'for monitoring: 0 all well, 1 unhealthy, 3 not running'],
  ],
  handler: async (session, names, options) => {
    if (options.history) return await showUsageHistory(session, names, options.since);
    if (options.since !== undefined) throw usage('--since goes with --history');
    if (options.watch) return await watch(session, names, options);
    const reading = await read(session, names);
    if (reading.offline !== null) session.note(remark(reading));
    session.printJson(reading.value);
    for (const line of lines(session, reading.value, options)) session.print(line);
    return options.exitCode ? exitCodeOf(reading.value.components) : 0;
  },
};

async function read(session: Session, names: readonly string[]): Promise<Reading<StatusView>> {
  return await readRecords(session, async (records) => {
    const all = await records.status();
    if (names.length === 0) return all;
    const chosen = resolveTargets(
      names,
      all.components.map(({ name }) => name),
    );
    return { ...all, components: all.components.filter(({ name }) => chosen.includes(name)) };
  });
}

function remark({ value, offline }: Reading<StatusView>): string {
  if (value.components.length > 0) return offlineNote(offline!);
  return `${offline}, and nothing is recorded yet; run "keepwell up"`;
}

function lines(session: Session, view: StatusView, { verbose }: Options): string[] {
  const { paint, world } = session;
  const remarks = daemonRemarks(view);
  const sessions = sessionsLine(view.daemon);
  if (verbose) {
    const blocks = view.components.flatMap((one) => [...verboseBlock(one, paint, Date.now()), '']);
    return [...blocks, daemonLine(view.daemon), ...keepingLine(view.daemon), ...sessions, ...remarks];
  }
  if (view.components.length === 0) return view.daemon.running ? ['no components', ...sessions, ...remarks] : [];
  return [
    ...statusTable(view.components, paint, world.out.isTty ? world.out.columns : undefined),
    ...sessions,
    ...remarks,
  ];
}

/** Unhealthy is worse news than not (yet) running. */
export function exitCodeOf(components: readonly ComponentView[]): number {
  if (components.some(({ health, condition }) => health === 'unhealthy' || condition === 'frozen')) return 1;
  const up = (state: string) => state === 'running' || state === 'completed';
  return components.some(({ desired, state }) => desired === 'running' && !up(state)) ? 3 : 0;
}

const watch = (session: Session, names: readonly string[], options: Options): Promise<never> =>
  showAgain(session, WATCH_MS, async () => {
    const reading = await read(session, names);
    const offline = reading.offline === null ? [] : [remark(reading), ''];
    return { value: reading.value, lines: [...offline, ...lines(session, reading.value, options)] };
  });
