/** The tables, one per case. A case that was not run has none. */
import { figure, table } from '../markdown.mjs';
import { KB, logOf, MB, restartOf, restingOf, shareOfPlainFile, startStopOf } from './figures.mjs';

const over = (value, base) => (base ? figure(value / base) : '–');

/** `{ title, text }` for each. */
export function caseTables(measured) {
  const { results } = measured;
  return [
    results.restart && { title: 'Crash → restart', text: restartTable(measured) },
    results['start-stop'] && { title: 'Start and stop', text: startStopTable(measured) },
    results.growth && { title: 'At rest, from few to many', text: growthTable(measured) },
    results.log && { title: 'Log throughput', text: logTable(measured) },
  ].filter(Boolean);
}

function restartTable(measured) {
  const floor = restartOf(measured, 'floor')?.p50;
  const rows = measured.tools.map(({ id, name }) => {
    const { p50, p95, slowest } = restartOf(measured, id);
    return [name, figure(p50), figure(p95), figure(slowest), over(p50, floor)];
  });
  return table([['', 'p50 ms', 'p95 ms', 'slowest ms', 'p50 ÷ floor'], ...rows]);
}

function startStopTable(measured) {
  const { fleet } = measured.sizes;
  const rows = measured.tools.map(({ id, name }) => {
    const { startMs, stopMs } = startStopOf(measured, id);
    return [name, figure(startMs), figure(stopMs)];
  });
  return table([['p50 of all rounds', `start of ${fleet}, ms`, `stop of ${fleet}, ms`], ...rows]);
}

function growthTable(measured) {
  const heads = [
    'components',
    '',
    'all up, s',
    'idle CPU, %',
    'daemon PSS, MB',
    'daemon RSS, MB',
    'helpers, MB',
    'each, KB',
  ];
  const rows = measured.sizes.counts.flatMap((count) =>
    measured.tools.map(({ id, name }) => {
      const found = restingOf(measured, id, count) ?? {};
      const per = (value, unit) => figure(value === null || value === undefined ? null : value / unit);
      return [
        ...[count.toLocaleString('en-US'), name, per(found.startMs, 1_000), figure(found.cpuPercent)],
        ...[per(found.daemonPss, MB), per(found.daemonRss, MB), per(found.helpers, MB), per(found.each, KB)],
        figure(found.statusMs),
      ];
    }),
  );
  return table([[...heads, 'status p50, ms'], ...rows]);
}

function logTable(measured) {
  const kinds = [...new Set(measured.results.log.map(({ kind }) => kind))];
  const heads = kinds.flatMap((kind) => [`${kind}, MB/s`, '÷ plain file', 'tool CPU, ms per MB']);
  const rows = measured.tools.map(({ id, name }) => [
    id === 'floor' ? 'plain file' : name,
    ...kinds.flatMap((kind) => {
      const { mbPerSecond, cpuMsPerMb } = logOf(measured, id, kind);
      return [figure(mbPerSecond), figure(shareOfPlainFile(measured, id, kind)), figure(cpuMsPerMb)];
    }),
  ]);
  return table([['', ...heads], ...rows]);
}
