/** The charts of the page: bars as SVG, drawn here, in colours that suit a light page and a dark one. */
import { figure } from '../markdown.mjs';
import { MB, restartOf, restingOf, shareOfPlainFile, startStopOf } from './figures.mjs';

const WIDTH = 760;
const NAMES = 170;
const FIGURES = 90;
const BAR = 18;
const ROW = 26;
const TOP = 48;
const PLOT = WIDTH - NAMES - FIGURES;
/** From this ratio of the longest bar to the shortest on, a straight scale shows nothing of the short ones. */
const LOG_FROM = 50;

/** `{ file, title, svg }` of each for which there are figures. */
export function charts(measured) {
  const { sizes } = measured;
  const many = sizes.fleets.at(-1);
  const at = sizes.counts.includes(500) ? 500 : sizes.counts.at(-1);
  const all = [
    { file: 'restart.svg', title: 'Crash → restart, p50, ms', of: (id) => restartOf(measured, id)?.p50 },
    { file: 'start.svg', title: `Start of ${many}, s`, of: (id) => startStopOf(measured, id, many)?.startMs / 1_000 },
    { file: 'stop.svg', title: `Stop of ${many}, s`, of: (id) => startStopOf(measured, id, many)?.stopMs / 1_000 },
    {
      file: 'idle-cpu.svg',
      title: `Idle CPU with ${at}, % of a core`,
      of: (id) => restingOf(measured, id, at)?.cpuPercent,
    },
    {
      ...{ file: 'memory.svg', title: `Memory with ${at}: daemon (RSS) and helpers (PSS), MB` },
      of: (id) => (restingOf(measured, id, at)?.daemonRss + restingOf(measured, id, at)?.helpers) / MB || null,
    },
    {
      ...{ file: 'log.svg', title: 'Log throughput in 4 kB blocks, share of a plain file (longer is better)' },
      of: (id) => shareOfPlainFile(measured, id, '4 kB blocks'),
    },
  ];
  return all.flatMap(({ file, title, of }) => {
    const bars = measured.tools
      .map(({ id, name }) => ({ name: name.replaceAll('`', ''), isOurs: id.startsWith('keepwell'), value: of(id) }))
      .filter(({ value }) => Number.isFinite(value));
    return bars.length > 1 ? [{ file, title, svg: barChart(title, bars) }] : [];
  });
}

/** `bars`: `{ name, value, isOurs }`, none below zero. */
export function barChart(title, bars) {
  const values = bars.map(({ value }) => value).filter((value) => value > 0);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const isLog = most / least >= LOG_FROM;
  const base = least / 2;
  const length = (value) => {
    if (value <= 0) return 0;
    return PLOT * (isLog ? Math.log(value / base) / Math.log(most / base) : value / most);
  };
  const height = TOP + bars.length * ROW + 8;
  const rows = bars.map(({ name, value, isOurs }, index) => {
    const y = TOP + index * ROW;
    const width = Math.max(1, length(value)).toFixed(1);
    const middle = y + BAR / 2 + 4;
    return `<text x="${NAMES - 8}" y="${middle}" text-anchor="end">${escaped(name)}</text>
<rect class="${isOurs ? 'ours' : 'other'}" x="${NAMES}" y="${y}" width="${width}" height="${BAR}" rx="2"/>
<text x="${NAMES + Number(width) + 6}" y="${middle}">${figure(value)}</text>`;
  });
  const scale = isLog ? '<tspan class="note">  (logarithmic scale)</tspan>' : '';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 } .title { font-weight: 600; font-size: 15px } .note { font-weight: 400; font-size: 12px }
.ours { fill: #1a7f64 } .other { fill: #8c959f }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ours { fill: #3fb68b } .other { fill: #6e7681 } }
</style>
<text class="title" x="8" y="24">${escaped(title)}${scale}</text>
${rows.join('\n')}
</svg>
`;
}

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
