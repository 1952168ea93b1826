/** What Keepwell must reach, beside what it did reach. */
import { figure, table } from '../markdown.mjs';
import { judge, words } from '../verdict.mjs';
import { bendOf, KB, MB, over, restartOf, restingOf, shareOfPlainFile, startStopOf } from './figures.mjs';

/** So many times what each of the first ones costs may each of the last ones cost: a straight line, with room for noise. */
const MAX_BEND = 1.25;
const MIN_LOG_SHARE = 0.95;

export function targets(measured) {
  const all = [restarts, fleets, rest, status, logs, linear];
  return all.flatMap((of) => of(measured)).map(judge);
}

const times = (factor, value) => (value === null || value === undefined ? null : factor * value);

function restarts(measured) {
  const p50 = (tool) => restartOf(measured, tool)?.p50 ?? null;
  const [native, sh] = [p50('keepwell'), p50('keepwell-sh')];
  return [
    { name: 'crash → restart, p50, at most that of PM2', value: native, limit: p50('pm2'), unit: 'ms' },
    { name: 'crash → restart, p50, at most 2 × runit', value: native, limit: times(2, p50('runit')), unit: 'ms' },
    { name: 'crash → restart, p50, `sh` shim, at most 3 × PM2', value: sh, limit: times(3, p50('pm2')), unit: 'ms' },
  ];
}

function fleets(measured) {
  const of = (tool, count, what) => startStopOf(measured, tool, count)?.[what] ?? null;
  const { fleets: counts } = measured.sizes;
  const many = counts.at(-1);
  return [
    ...counts.map((count) => ({
      ...{ name: `start of ${count}, at most that of PM2`, unit: 'ms' },
      ...{ value: of('keepwell', count, 'startMs'), limit: of('pm2', count, 'startMs') },
    })),
    {
      ...{ name: `stop of ${many}, at most ¼ of PM2's`, unit: 'ms' },
      ...{ value: of('keepwell', many, 'stopMs'), limit: times(0.25, of('pm2', many, 'stopMs')) },
    },
  ];
}

function rest(measured) {
  const { counts } = measured.sizes;
  const [few, many] = [counts[0], counts.includes(500) ? 500 : counts.at(-1)];
  const of = (tool, count, what) => restingOf(measured, tool, count)?.[what] ?? null;
  const cpu = (count, factor) => ({
    ...{ name: `idle CPU with ${count}, at most ${factor} × PM2`, unit: '% of a core' },
    ...{ value: of('keepwell', count, 'cpuPercent'), limit: times(factor, of('pm2', count, 'cpuPercent')) },
  });
  return [
    cpu(few, 1.1),
    cpu(many, 2.5),
    {
      name: `shim of each with ${many}, PSS`,
      value: over(of('keepwell', many, 'helperEach'), KB),
      limit: 20,
      unit: 'KB',
    },
    { name: `daemon with ${many}, RSS`, value: over(of('keepwell', many, 'daemonRss'), MB), limit: 90, unit: 'MB' },
  ];
}

function status(measured) {
  const count = measured.sizes.counts[1];
  const of = (tool) => restingOf(measured, tool, count)?.statusMs ?? null;
  const name = `\`status\` with ${count}, p50, at most 1.6 × \`node -e 0\``;
  return [{ name, value: of('keepwell'), limit: times(1.6, of('floor')), unit: 'ms' }];
}

function logs(measured) {
  return ['line by line', '4 kB blocks'].map((kind) => ({
    ...{ name: `log throughput, ${kind}`, value: shareOfPlainFile(measured, 'keepwell', kind) },
    ...{ limit: MIN_LOG_SHARE, unit: 'of a plain file', sense: 'at least' },
  }));
}

function linear(measured) {
  const costs = {
    'time to start': ({ startMs }) => startMs,
    'idle CPU': ({ cpuPercent }) => cpuPercent,
    'memory, all of it': ({ daemonPss, helpers }) => daemonPss + helpers,
    'time of `status`': ({ statusMs }) => statusMs,
  };
  const most = measured.sizes.counts.at(-1).toLocaleString('en-US');
  return Object.entries(costs).map(([name, cost]) => ({
    ...{ name: `${name}, linear to ${most}`, value: bendOf(measured, 'keepwell', cost) },
    ...{ limit: MAX_BEND, unit: '× per component' },
  }));
}

/** `isWanted`: which verdicts to show; all unless told. */
export function targetTable(measured, isWanted = () => true) {
  const rows = targets(measured)
    .filter(isWanted)
    .map((verdict) => {
      const { name, value, limit, unit, sense } = verdict;
      return [name, `${figure(value)} ${unit}`, `${sense} ${figure(limit)}`, words(verdict)];
    });
  return table([['target', 'Keepwell', 'limit', 'verdict, ÷ limit'], ...rows]);
}
