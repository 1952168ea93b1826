/** The tables, one per case. A case that was not run has none. */
import { figure, table } from '../markdown.mjs';
import { median, percentile } from '../stats.mjs';
import { KB, logOf, MB, over, restartOf, restingOf, shareOfPlainFile, startStopOf } from './figures.mjs';

const TABLES = {
  restart: ['Crash → restart', restartTable],
  'start-stop': ['Start and stop', startStopTable],
  growth: ['At rest, from few to many', growthTable],
  log: ['Log throughput', logTable],
  probes: ['HTTP probes, some of them to servers that hang', probeTable],
  hung: ['A component that does not end when asked', hungTable],
  death: ["The supervisor's own death", deathTable],
  containers: ['A container that becomes unhealthy', containerTable],
};

/** `{ id, title, text }` for each. */
export function caseTables(measured) {
  return Object.entries(TABLES)
    .filter(([id]) => measured.results[id])
    .map(([id, [title, text]]) => ({ id, title, text: text(measured) }));
}

const counted = (count) => count.toLocaleString('en-US');
const nameOf = ({ tools }, id) => tools.find((tool) => tool.id === id)?.name ?? id;
const seconds = (ms) => figure(ms === null || ms === undefined ? null : ms / 1_000);

/** The rows of those that have figures. */
const rowsOf = (measured, find, row) =>
  measured.tools.flatMap((tool) => {
    const found = find(tool.id);
    return found ? [[tool.name, ...row(found, tool.id)]] : [];
  });

function restartTable(measured) {
  const of = (tool) => restartOf(measured, tool);
  const rows = rowsOf(measured, of, ({ rounds, p10, p50, p95, p99 }) => [
    ...[p10, p50, p95, p99, over(p50, of('floor')?.p50), over(p50, of('pm2')?.p50), over(p50, of('keepwell')?.p50)].map(
      figure,
    ),
    rounds,
  ]);
  const heads = ['p10 ms', 'p50 ms', 'p95 ms', 'p99 ms', 'p50 ÷ floor', 'p50 ÷ PM2', 'p50 ÷ Keepwell', 'rounds'];
  return table([['', ...heads], ...rows]);
}

function startStopTable(measured) {
  const { fleets } = measured.sizes;
  const heads = fleets.flatMap((count) => [`start of ${count}, s`, '÷ PM2', `stop of ${count}, s`, '÷ PM2']);
  const cells = (id, count) => {
    const [own, pm2] = [startStopOf(measured, id, count), startStopOf(measured, 'pm2', count)];
    return ['startMs', 'stopMs'].flatMap((what) => [seconds(own?.[what]), figure(over(own?.[what], pm2?.[what]))]);
  };
  const rows = rowsOf(
    measured,
    (id) => startStopOf(measured, id, fleets[0]),
    (_, id) => fleets.flatMap((count) => cells(id, count)),
  );
  return table([['median of the rounds', ...heads], ...rows]);
}

function growthTable(measured) {
  const heads = [
    ...['components', '', 'all up, s', 'idle CPU, %', 'wake-ups/s', 'daemon RSS, MB', 'helpers, MB', 'helper each, KB'],
    ...['all of each, KB', 'status p50, ms', '÷ `node -e 0`'],
  ];
  const per = (value, unit) => figure(value === null || value === undefined ? null : value / unit);
  const rows = measured.sizes.counts.flatMap((count) =>
    measured.tools.flatMap(({ id, name }) => {
      const found = restingOf(measured, id, count);
      if (!found) return [];
      const floor = restingOf(measured, 'floor', count)?.statusMs;
      return [
        [
          ...[counted(count), name, seconds(found.startMs), figure(found.cpuPercent), figure(found.wakeUps)],
          ...[per(found.daemonRss, MB), per(found.helpers, MB), per(found.helperEach, KB), per(found.each, KB)],
          ...[figure(found.statusMs), figure(over(found.statusMs, floor))],
        ],
      ];
    }),
  );
  return table([heads, ...rows]);
}

function logTable(measured) {
  const kinds = [...new Set(measured.results.log.map(({ kind }) => kind))];
  const heads = kinds.flatMap((kind) => [`${kind}, MB/s`, '÷ plain file', 'tool CPU, ms per MB']);
  const rows = rowsOf(
    measured,
    (id) => logOf(measured, id, kinds[0]),
    (_, id) =>
      kinds.flatMap((kind) => {
        const { mbPerSecond, cpuMsPerMb } = logOf(measured, id, kind);
        return [figure(mbPerSecond), figure(shareOfPlainFile(measured, id, kind)), figure(cpuMsPerMb)];
      }),
  );
  return table([['', ...heads], ...rows.map(([name, ...cells]) => [name === 'floor' ? 'plain file' : name, ...cells])]);
}

function probeTable(measured) {
  const rows = measured.results.probes.map(({ tool, wanted, askedPerSecond, cpuPercent, rssKb }) => [
    tool === 'keepwell, no probes' ? 'Keepwell, no probes' : nameOf(measured, tool),
    ...[
      tool.includes('no probes') ? '–' : figure(wanted),
      figure(askedPerSecond),
      figure(cpuPercent),
      figure((rssKb * 1_024) / MB),
    ],
  ]);
  return table([['', 'wanted per second', 'asked per second', 'CPU, %', 'RSS, MB'], ...rows]);
}

function hungTable(measured) {
  const rows = measured.results.hung.map(({ tool, stopMs, giveUpMs }) => [
    nameOf(measured, tool),
    stopMs.includes(null) ? `still there after ${giveUpMs / 1_000} s` : `${seconds(median(stopMs))} s`,
  ]);
  return table([['', 'gone after'], ...rows]);
}

function deathTable(measured) {
  const of = (count, all) => `${count} of ${all}`;
  const rows = measured.results.death.map(({ tool, staying, dying, survived, kept, doubled, anew, told }) => [
    nameOf(measured, tool),
    ...[of(survived, staying), of(kept, staying), of(doubled, staying), of(anew, staying), of(told, dying)],
  ]);
  const heads = ['outlived it', 'then kept', 'then running twice', 'then ended and begun anew', 'exit codes known'];
  return table([['', ...heads], ...rows]);
}

function containerTable({ results }) {
  const { keepwellMs, autohealMs, isHealedAlone, aloneMs } = results.containers;
  const row = (name, samples) => [name, seconds(median(samples)), seconds(percentile(samples, 0.99)), samples.length];
  return table([
    ['', 'healthy again, median s', 'p99 s', 'rounds'],
    row('Keepwell', keepwellMs),
    row('the loop of docker-autoheal', autohealMs),
    ['Docker --restart', isHealedAlone ? 'healed' : `still unhealthy after ${aloneMs / 1_000} s`, '–', '1'],
  ]);
}
