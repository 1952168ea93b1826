/** keepwell logs: what components wrote. Reads the files themselves, so it works without a daemon. */
import { Option } from 'commander';
import { homePaths } from '../../daemon/home.ts';
import { countOption, type Definition } from '../define.ts';
import { followLogs, loggedNames, type Shown, showLogs } from '../logs/show.ts';
import { readRecords } from '../records/read.ts';
import { type Session, usage } from '../session.ts';
import { resolveTargets } from '../targets.ts';

interface Options {
  readonly follow?: true;
  readonly tail?: number;
  readonly grep?: string;
  readonly daemon?: true;
}

const DEFAULT_LINES = 100;

export const logs: Definition<Options> = {
  usage: 'logs [NAME...]',
  group: 'Look:',
  summary: 'what components wrote to stdout and stderr',
  options: [
    new Option('-f, --follow', 'go on with what is written, until Ctrl-C'),
    countOption('-n, --tail <N>', `the last N lines of each (default: ${DEFAULT_LINES})`, { min: 0, max: 1_000_000 }),
    new Option('--grep <TEXT>', 'only lines with this text in them'),
    new Option('--daemon', "the daemon's own log"),
  ],
  examples: [
    ['keepwell logs', `the last ${DEFAULT_LINES} lines of everything`],
    ['keepwell logs api worker -f', 'two of them, live'],
    ['keepwell logs api -n 1000 --grep ERROR', 'the last thousand lines with ERROR in them'],
    ['keepwell logs --daemon', 'what Keepwell itself did'],
  ],
  followTakesF: true,
  handler: async (session, patterns, options) => {
    const shown = await choose(session, patterns, options);
    if (options.follow) await followLogs(session, shown);
    if (shown.names.length === 0) session.note('no component has written anything yet');
    showLogs(session, shown);
    return 0;
  },
};

async function choose(session: Session, patterns: readonly string[], options: Options): Promise<Shown> {
  const { tail = DEFAULT_LINES, grep, daemon, follow } = options;
  if (daemon) {
    if (patterns.length > 0) throw usage('Give names or --daemon, not both.');
    return { names: ['daemon'], tail, grep, pathOf: () => homePaths(session.project.home).daemonLog };
  }
  if (patterns.length > 0) return { names: await named(session, patterns), tail, grep };
  const names = loggedNames(session);
  const newNames = () => loggedNames(session);
  return { names, tail, grep, newNames, prefixed: names.length > 1 || follow === true };
}

/** A component that has written nothing yet is known to the daemon or the records, though not to the directory. */
async function named(session: Session, patterns: readonly string[]): Promise<readonly string[]> {
  const logged = loggedNames(session);
  try {
    return resolveTargets(patterns, logged);
  } catch {
    const { value } = await readRecords(session, (records) => records.status());
    const names = value.components.map(({ name }) => name);
    return resolveTargets(patterns, [...new Set([...logged, ...names])].sort());
  }
}
