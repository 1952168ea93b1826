/** One component in one line: as many columns as there is room for, the most important first. Pure. */
import { formatBytes, formatUptime } from '../../base/pure/format.ts';
import type { OverviewRow, OverviewView } from '../../dashboard/rules/views.ts';
import { type Brush, type Paint, stateBrush } from '../print/colour.ts';
import { displayWidth } from '../print/table.ts';
import { badness } from './model.ts';
import { cell, flat, lineOf, type Part } from './text.ts';

type ColumnName = 'name' | 'state' | 'ready' | 'uptime' | 'restarts' | 'day' | 'cpu' | 'memory' | 'note';

export interface Column {
  readonly name: ColumnName;
  readonly title: string;
  readonly width: number;
  readonly align?: 'right';
}

/** In the order in which they are given up when it gets narrow, the last first. */
const OPTIONAL: readonly Column[] = [
  { name: 'state', title: 'STATE', width: 13 },
  { name: 'uptime', title: 'UPTIME', width: 6, align: 'right' },
  { name: 'ready', title: 'READY', width: 5 },
  { name: 'restarts', title: '↻', width: 4, align: 'right' },
  { name: 'day', title: '24 h', width: 12 },
  { name: 'memory', title: 'MEM', width: 6, align: 'right' },
  { name: 'cpu', title: 'CPU', width: 5, align: 'right' },
];
const ORDER: readonly ColumnName[] = ['name', 'state', 'ready', 'uptime', 'restarts', 'day', 'cpu', 'memory', 'note'];
const MARK = 3;
const NAME = { least: 8, most: 24 };
const NOTE_LEAST = 16;
/** Where somebody has something to say, so much is left for it. */
const NOTE_WISH = 24;
/** A point for each hour and a half. */
const CURVE = 16;
const DAYS = [48, 24];

/** `width`: of the terminal. */
export function columnsFor(rows: readonly OverviewRow[], width: number, span = '24 h'): readonly Column[] {
  const longest = rows.reduce((most, { name }) => Math.max(most, displayWidth(name)), NAME.least);
  const nameWidth = Math.max(NAME.least, Math.min(longest, NAME.most, Math.floor(width / 4)));
  const chosen: Column[] = [{ name: 'name', title: 'NAME', width: nameWidth }];
  let left = width - MARK - nameWidth;
  for (const column of OPTIONAL) {
    if (column.width + 2 > left) break;
    chosen.push(column);
    left -= column.width + 2;
  }
  const hasDay = chosen.some(({ name }) => name === 'day');
  const noteWish = rows.some(({ note }) => note !== null) ? NOTE_WISH : 0;
  const day = hasDay ? DAYS.find((cells) => cells - 12 <= left - noteWish) : undefined;
  if (day !== undefined) left -= day - 12;
  const hasCurves = chosen.some(({ name }) => name === 'cpu') && left - noteWish >= 2 * (CURVE + 1);
  if (hasCurves) left -= 2 * (CURVE + 1);
  if (left - 2 >= NOTE_LEAST) chosen.push({ name: 'note', title: 'NOTE', width: left - 2 });
  const wide = ({ name, width: least }: Column): number => {
    if (name === 'day' && day !== undefined) return day;
    return hasCurves && (name === 'cpu' || name === 'memory') ? least + CURVE + 1 : least;
  };
  return ORDER.flatMap((name) => chosen.filter((column) => column.name === name)).map((column) => ({
    ...column,
    ...(column.name === 'day' ? { title: span } : {}),
    width: wide(column),
  }));
}

/** How much time the letters of all rows are about: "24 h", of a younger project "10 min". */
export function spanOf(view: Pick<OverviewView, 'timeline'> | null): string {
  const minutes = Math.round(((view?.timeline.bucket_ms ?? 0) * (view?.timeline.buckets ?? 0)) / 60_000);
  return minutes === 0 ? '24 h' : minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

export function headLine(columns: readonly Column[], width: number, told: string, paint: Paint): string {
  const titles = columns.map(({ title, width: wide, align }) => cell(title, wide, align)).join('  ');
  const text = `${' '.repeat(MARK)}${titles.trimEnd()}`;
  const gap = width - displayWidth(text) - displayWidth(told);
  return paint.dim(told === '' || gap < 2 ? lineOf([{ text }], width) : `${text}${' '.repeat(gap)}${told}`);
}

export interface RowForm {
  readonly columns: readonly Column[];
  readonly width: number;
  readonly isSelected: boolean;
  readonly paint: Paint;
  /** Up to when it is known how long it ran. */
  readonly frozenAt: number;
}

export function rowLine(row: OverviewRow, { columns, width, isSelected, paint, frozenAt }: RowForm): string {
  const { mark, brush } = markOf(row, paint);
  const parts: Part[] = [
    { text: isSelected ? '>' : ' ', brush: paint.bold },
    { text: `${mark} `, brush },
  ];
  columns.forEach((column, at) => {
    const { text, brush: own } = contentOf(row, column, frozenAt, paint, brush);
    const shown = `${at === 0 ? '' : '  '}${cell(text, column.width, column.align)}`;
    parts.push(own === undefined ? { text: shown } : { text: shown, brush: own });
  });
  if (!isSelected || !paint.isColorSupported) return lineOf(parts, width).trimEnd();
  const plain = parts.map(({ text }) => text).join('');
  return paint.inverse(cell(plain, width));
}

/** Shape and colour: nobody has to see colours. */
function markOf(row: OverviewRow, paint: Paint): { readonly mark: string; readonly brush: Brush } {
  switch (row.state) {
    case 'running':
      return badness(row) === 2 ? { mark: '◐', brush: paint.yellow } : { mark: '●', brush: paint.green };
    case 'gave-up':
      return { mark: '✗', brush: paint.red };
    case 'completed':
      return { mark: '✓', brush: paint.green };
    case 'stopped':
      return { mark: '○', brush: paint.dim };
    default:
      return { mark: '◌', brush: stateBrush(paint, row.state) };
  }
}

function contentOf(row: OverviewRow, column: Column, now: number, paint: Paint, state: Brush): Part {
  switch (column.name) {
    case 'name':
      return { text: flat(row.name), brush: paint.bold };
    case 'state':
      return { text: stateText(row, now), brush: state };
    case 'ready':
      return { text: readyText(row) };
    case 'uptime':
      return { text: uptimeText(row, now) };
    case 'restarts':
      return row.restarts === 0 ? { text: '0', brush: paint.dim } : { text: String(row.restarts), brush: paint.yellow };
    case 'day':
      return { text: dayText(row.timeline, column.width) };
    case 'cpu':
      return {
        text: withCurve(row.cpu_percent === null ? '-' : `${Math.round(row.cpu_percent)}%`, row.cpu, column.width, 5),
      };
    case 'memory':
      return { text: withCurve(memoryText(row), row.memory, column.width, 6) };
    case 'note':
      return { text: flat(noteText(row)), brush: paint.dim };
    default:
      throw new Error(`no such column: ${column.name satisfies never}`);
  }
}

/** "backoff 12s": how long until it is tried again. */
function stateText({ state, condition, next_attempt_at }: OverviewRow, now: number): string {
  if (condition === 'frozen' || condition === 'unkillable') return condition;
  if (next_attempt_at === null || state !== 'backing-off') return state;
  const left = Math.ceil((Date.parse(next_attempt_at) - now) / 1_000);
  return left > 0 ? `backoff ${formatUptime(left * 1_000).replace(' ', '')}` : 'restarting';
}

const readyText = ({ state, ready, health }: OverviewRow): string => {
  if (ready) return 'yes';
  if (state !== 'running') return '-';
  return health === 'unknown' ? '?' : 'no';
};

const uptimeText = ({ started_at }: OverviewRow, now: number): string =>
  started_at === null ? '-' : formatUptime(now - Date.parse(started_at)).replace(' ', '');

const noteText = ({ note, waiting_for }: OverviewRow): string =>
  note ?? (waiting_for.length === 0 ? '' : `waits for ${waiting_for.join(', ')}`);

const BEATS: Readonly<Record<string, string>> = { u: '█', t: '▄', d: '▁', s: '·', '-': ' ' };
const WORST_FIRST = 'dtus-';

/** Where several quarters of an hour share one place, the worst of them is shown. */
export function dayText(timeline: string, width: number): string {
  if (timeline === '') return '';
  return Array.from({ length: width }, (_, at) => {
    const from = Math.floor((at * timeline.length) / width);
    const beats = timeline.slice(from, Math.max(from + 1, Math.floor(((at + 1) * timeline.length) / width)));
    return BEATS[[...WORST_FIRST].find((beat) => beats.includes(beat)) ?? '-'];
  }).join('');
}

const memoryText = ({ memory_bytes }: OverviewRow): string =>
  memory_bytes === null ? '-' : formatBytes(memory_bytes).replace('iB', '').replace(' ', '');

/** The curve in front of the number, where its column is wider than that. */
function withCurve(text: string, points: readonly (number | null)[], width: number, number: number): string {
  return width === number ? text : `${curveText(points, CURVE)} ${cell(text, number, 'right')}`;
}

const STEPS = '▁▂▃▄▅▆▇█';

/** From nothing to the most there was; blank where nothing was measured. */
export function curveText(points: readonly (number | null)[], width: number): string {
  const most = points.reduce<number>((max, point) => Math.max(max, point ?? 0), 0);
  return Array.from({ length: width }, (_, at) => {
    const some = points.slice(Math.floor((at * points.length) / width), Math.ceil(((at + 1) * points.length) / width));
    const known = some.flatMap((point) => point ?? []);
    if (known.length === 0) return ' ';
    return STEPS[most === 0 ? 0 : Math.min(7, Math.floor((Math.max(...known) / most) * 8))];
  }).join('');
}
