/** What must not get worse: ratios, so that another machine or another day says the same, and a few sizes that are the same anywhere. */
import { figure, table } from '../markdown.mjs';
import { KB, MB, over, restartOf, restingOf, shareOfPlainFile, startStopOf } from './figures.mjs';

/** A ratio that is worse by so much is worse. */
const LEEWAY = 1.25;

/** `{ name, of (the case), value, isMoreBetter }`; the value is null when it was not measured. */
export function ratiosOf(measured) {
  const p50 = (tool) => restartOf(measured, tool)?.p50;
  const startStop = (tool, count, what) => startStopOf(measured, tool, count)?.[what];
  const resting = (tool, count, what) => restingOf(measured, tool, count)?.[what];
  const [few, many] = measured.sizes.fleets;
  const { counts } = measured.sizes;
  const largest = counts.includes(500) ? 500 : counts.at(-1);
  const middle = counts[1];
  const restarts = [
    ['restart p50 ÷ floor', over(p50('keepwell'), p50('floor'))],
    ['restart p50 ÷ PM2', over(p50('keepwell'), p50('pm2'))],
    ['restart p50 ÷ runit', over(p50('keepwell'), p50('runit'))],
    ['restart p50, `sh` shim, ÷ PM2', over(p50('keepwell-sh'), p50('pm2'))],
  ];
  const fleets = [
    [`start of ${few} ÷ PM2`, over(startStop('keepwell', few, 'startMs'), startStop('pm2', few, 'startMs'))],
    [`start of ${many} ÷ PM2`, over(startStop('keepwell', many, 'startMs'), startStop('pm2', many, 'startMs'))],
    [`stop of ${many} ÷ PM2`, over(startStop('keepwell', many, 'stopMs'), startStop('pm2', many, 'stopMs'))],
  ];
  const rest = [
    [
      `idle CPU with ${counts[0]} ÷ PM2`,
      over(resting('keepwell', counts[0], 'cpuPercent'), resting('pm2', counts[0], 'cpuPercent')),
    ],
    [
      `idle CPU with ${largest} ÷ PM2`,
      over(resting('keepwell', largest, 'cpuPercent'), resting('pm2', largest, 'cpuPercent')),
    ],
    [`helper of each with ${largest}, KB`, over(resting('keepwell', largest, 'helperEach'), KB)],
    [`daemon RSS with ${largest}, MB`, over(resting('keepwell', largest, 'daemonRss'), MB)],
    [
      `status with ${middle} ÷ node -e 0`,
      over(resting('keepwell', middle, 'statusMs'), resting('floor', middle, 'statusMs')),
    ],
  ];
  const logs = ['line by line', '4 kB blocks'].map((kind) => [
    `log, ${kind}, ÷ plain file`,
    shareOfPlainFile(measured, 'keepwell', kind),
  ]);
  const all = (of, rows, more = {}) => rows.map(([name, value]) => ({ name, of, value, ...more }));
  return [
    ...all('restart', restarts),
    ...all('start-stop', fleets),
    ...all('growth', rest),
    ...all('log', logs, { isMoreBetter: true }),
  ];
}

/** Those that are worse by a quarter than before: `{ name, of, was, is }`. What one of the two has not measured is not judged. */
export function worse(before, now) {
  return pairs(before, now).filter(({ times }) => times !== null && times > LEEWAY);
}

/** `times`: how many times worse, so that more is always worse. */
function pairs(before, now) {
  const was = new Map(before.map(({ name, value }) => [name, value]));
  return now.map(({ name, of, value, isMoreBetter }) => {
    const old = was.get(name) ?? null;
    return { name, of, was: old, is: value, times: isMoreBetter ? over(old, value) : over(value, old) };
  });
}

export function gateTable(before, now) {
  const rows = pairs(before, now).map(({ name, was, is, times }) => [
    ...[name, figure(was), figure(is), figure(times)],
    times === null ? 'not compared' : times > LEEWAY ? '**worse**' : 'kept',
  ]);
  return table([['ratio', 'recorded', 'now', 'times worse', ''], ...rows]);
}
