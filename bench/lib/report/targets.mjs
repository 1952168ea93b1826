/** What Keepwell must reach (design and issue), beside what it did reach. */
import { figure, table } from '../markdown.mjs';
import { judge, words } from '../verdict.mjs';
import { bendOf, KB, MB, restartOf, restingOf, shareOfPlainFile } from './figures.mjs';

const MAX_CPU_PERCENT = 1;
const MAX_EACH_KB = 200;
const MAX_DAEMON_MB = 100;
const MAX_STATUS_RATIO = 2.5;
const MIN_LOG_SHARE = 0.95;
/** So many times what each of the first ones costs may each of the last ones cost: a straight line, with room for noise. */
const MAX_BEND = 1.25;

export function targets(measured) {
  return [...restart(measured), ...rest(measured), ...status(measured), ...logs(measured), ...linear(measured)].map(
    judge,
  );
}

function restart(measured) {
  const value = restartOf(measured, 'keepwell')?.p50 ?? null;
  const limit = restartOf(measured, 'pm2')?.p50 ?? null;
  return [{ name: "crash → restart, p50, not above PM2's", value, limit, unit: 'ms' }];
}

function rest(measured) {
  const count = measured.sizes.idleAt;
  const found = restingOf(measured, 'keepwell', count);
  const per = (value, unit) => (value === null || value === undefined ? null : value / unit);
  return [
    { name: `idle CPU with ${count}`, value: found?.cpuPercent ?? null, limit: MAX_CPU_PERCENT, unit: '% of a core' },
    { name: `memory each with ${count}, shim included`, value: per(found?.each, KB), limit: MAX_EACH_KB, unit: 'KB' },
    { name: `daemon with ${count}, PSS`, value: per(found?.daemonPss, MB), limit: MAX_DAEMON_MB, unit: 'MB' },
    { name: `daemon with ${count}, RSS`, value: per(found?.daemonRss, MB), limit: MAX_DAEMON_MB, unit: 'MB' },
  ];
}

function status(measured) {
  const count = measured.sizes.statusAt;
  const of = (tool) => restingOf(measured, tool, count)?.statusMs ?? null;
  const floor = of('floor');
  const common = { value: of('keepwell'), unit: 'ms' };
  const name = `\`keepwell status\` with ${count}, p50,`;
  return [
    { ...common, name: `${name} 2.5 × \`node -e 0\``, limit: floor === null ? null : floor * MAX_STATUS_RATIO },
    { ...common, name: `${name} \`pm2 jlist\``, limit: of('pm2'), sense: 'below' },
    { ...common, name: `${name} \`supervisorctl status\``, limit: of('supervisord'), sense: 'below' },
  ];
}

function logs(measured) {
  return ['line by line', '4 kB blocks'].map((kind) => ({
    name: `log throughput, ${kind}`,
    value: shareOfPlainFile(measured, 'keepwell', kind),
    limit: MIN_LOG_SHARE,
    unit: 'of a plain file',
    sense: 'at least',
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
    name: `${name}, linear to ${most}`,
    value: bendOf(measured, 'keepwell', cost),
    limit: MAX_BEND,
    unit: '× per component',
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
