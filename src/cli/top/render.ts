/** The screen of `keepwell top` as lines: what needs attention first, then the components, then what happened. Pure. */
import { formatDuration } from '../../base/pure/format.ts';
import type { AttentionView } from '../../dashboard/rules/views.ts';
import type { Paint } from '../print/colour.ts';
import { eventSentence } from '../print/event.ts';
import { clockTime } from '../print/json.ts';
import { displayWidth, shorten } from '../print/table.ts';
import { type Model, type Pane, shownRows } from './model.ts';
import { columnsFor, headLine, rowLine, spanOf } from './rows.ts';
import { flat, lineOf, type Part } from './text.ts';

/** Below these, what is not the list itself goes. */
const ROWS_FOR_ATTENTION = 8;
const ROWS_FOR_EVENTS = 18;
/** What happened has so many lines at least, and all that the list leaves over. */
const LEAST_EVENTS = 6;
/** The titles above the list and above what happened. */
const HEADS = 2;

/** Exactly as many lines as the terminal has rows, none wider than it. */
export function render(model: Model, paint: Paint): readonly string[] {
  const { rows } = model.size;
  if (model.hasHelp) return filled(help(model, paint), rows - 1, [footer(model, paint)]).slice(0, rows);
  const top = [header(model, paint), ...attention(model, paint)];
  const bottom = [footer(model, paint)];
  const room = Math.max(0, rows - top.length - bottom.length);
  const lower = model.pane !== null ? pane(model, model.pane, paint, room) : happened(model, paint, room);
  const middle = list(model, paint, room - lower.length);
  const blank = Array.from({ length: Math.max(0, room - lower.length - middle.length) }, () => '');
  return filled([...top, ...middle, ...blank, ...lower], rows - 1, bottom).slice(0, rows);
}

const filled = (lines: readonly string[], rows: number, bottom: readonly string[]): string[] => [
  ...lines.slice(0, Math.max(0, rows)),
  ...Array.from({ length: Math.max(0, rows - lines.length) }, () => ''),
  ...bottom,
];

function header(model: Model, paint: Paint): string {
  const { view, size } = model;
  const state = liveness(model, paint);
  const left: Part[] = [
    ...(size.columns >= 40 ? [{ text: 'Keepwell  ', brush: paint.dim }] : []),
    { text: flat(view?.project ?? ''), brush: paint.bold },
    { text: '  ' },
    state,
  ];
  const all = view?.components.length ?? 0;
  const count = view?.attention.length ?? 0;
  const right: Part =
    count > 0
      ? { text: `${count} ${count === 1 ? 'needs' : 'need'} attention`, brush: paint.red }
      : { text: all === 0 ? '' : `${all === 1 ? 'the one component is' : `all ${all} are`} well`, brush: paint.green };
  const used = [...left, right].reduce((sum, { text }) => sum + displayWidth(text), 0);
  const gap = size.columns - used;
  return lineOf(
    view === null || model.offline !== null || gap < 2 ? left : [...left, { text: ' '.repeat(gap) }, right],
    size.columns,
  );
}

function liveness({ view, isAway, offline, readAt, now }: Model, paint: Paint): Part {
  if (view === null) return { text: isAway ? '○ no daemon answers yet' : '○ connecting', brush: paint.yellow };
  const age = formatDuration(Math.max(1_000, Math.floor((now - readAt) / 1_000) * 1_000));
  if (offline !== null) return { text: `○ ${flat(offline)}; this is what the records say`, brush: paint.yellow };
  if (isAway) return { text: `◌ reconnecting, data is ${age} old`, brush: paint.yellow };
  return { text: '● live', brush: paint.green };
}

// What needs attention.

function attention({ view, size, now }: Model, paint: Paint): readonly string[] {
  const all = view?.attention ?? [];
  if (all.length === 0 || size.rows < ROWS_FOR_ATTENTION) return [];
  const most = Math.max(1, Math.floor(size.rows / 5));
  const shown = all.length > most ? all.slice(0, most - 1) : all;
  const more = all.length - shown.length;
  return [
    bar('Needs attention', size.columns, paint),
    ...shown.map((one) => attentionLine(one, now, size.columns, paint)),
    ...(more === 0 ? [] : [lineOf([{ text: `  and ${more} more`, brush: paint.dim }], size.columns)]),
  ];
}

function attentionLine(one: AttentionView, now: number, columns: number, paint: Paint): string {
  const { name, title, cause, since, affects, ticket, acknowledged, silenced_until } = one;
  const isInHand = acknowledged || silenced_until !== null;
  const whole = name !== null && title.startsWith(name) ? title.slice(name.length).replace(/^:? /, '') : title;
  const begun = cause?.startsWith(whole) ? cause : whole; // a cause often says the same, and more
  const more = [
    ...(cause === null || begun.includes(cause) ? [] : [cause]),
    ...(affects.length === 0 ? [] : [`affects ${affects.join(', ')}`]),
    ...(ticket === null ? [] : [ticket]),
    ...(acknowledged ? ['acknowledged'] : []),
    ...(silenced_until === null ? [] : [`silenced until ${clockTime(silenced_until)}`]),
  ];
  const age = since === null ? '' : ` (${formatDuration(Math.max(0, now - Date.parse(since)))})`;
  return lineOf(
    [
      { text: isInHand ? '  · ' : '  ✗ ', brush: isInHand ? paint.dim : paint.red },
      ...(name === null ? [] : [{ text: `${flat(name)}  `, brush: paint.bold }]),
      { text: flat(begun) },
      { text: age, brush: paint.dim },
      { text: more.length === 0 ? '' : ` → ${flat(more.join('; '))}` },
    ],
    columns,
  );
}

// The list.

function list(model: Model, paint: Paint, room: number): readonly string[] {
  if (room <= 0) return [];
  const { size, view, filter, sort } = model;
  const rows = shownRows(model);
  if (view !== null && rows.length === 0) {
    const why = filter === '' ? 'no components; run "keepwell up"' : `nothing fits "${flat(filter)}"; Esc shows all`;
    return [lineOf([{ text: `  ${why}`, brush: paint.dim }], size.columns)];
  }
  const columns = columnsFor(rows, size.columns, spanOf(view));
  const height = room > 3 ? room - 1 : room;
  const at = Math.max(
    0,
    rows.findIndex(({ name }) => name === model.selected),
  );
  const first = Math.max(0, Math.min(at - Math.floor(height / 2), rows.length - height));
  const lines = rows.slice(first, first + height).map((row) =>
    rowLine(row, {
      columns,
      width: size.columns,
      isSelected: row.name === model.selected,
      paint,
      frozenAt: frozenAt(model),
    }),
  );
  const place = rows.length > height ? `${first + 1}–${Math.min(rows.length, first + height)} of ${rows.length}` : '';
  const told = [...(sort === 'as configured' ? [] : [`by ${sort}`]), ...(place === '' ? [] : [place])].join(', ');
  return room > 3 ? [headLine(columns, size.columns, told, paint), ...lines] : lines;
}

/** Nobody knows what went on after the daemon went: times stand still. */
const frozenAt = ({ isAway, readAt, now }: Model): number => (isAway ? readAt : now);

// Below the list.

function happened(model: Model, paint: Paint, room: number): readonly string[] {
  const { events, size } = model;
  if (size.rows < ROWS_FOR_EVENTS || events.length === 0) return [];
  const free = room - shownRows(model).length - HEADS;
  const count = Math.min(Math.max(Math.min(LEAST_EVENTS, Math.floor(room / 3)), free), events.length);
  return [
    bar('What happened', size.columns, paint),
    ...events.slice(-count).map((event) => {
      const { subject, at } = event;
      const name = subject.kind === 'daemon' ? 'daemon' : subject.name;
      return lineOf(
        [
          { text: `  ${clockTime(at)}  `, brush: paint.dim },
          { text: `${flat(name)}  `, brush: paint.bold },
          { text: flat(eventSentence(event)) },
        ],
        size.columns,
      );
    }),
  ];
}

function pane({ size }: Model, { kind, name, lines, scroll }: Pane, paint: Paint, room: number): readonly string[] {
  const height = Math.floor((room * 2) / 3);
  if (height < 2) return [];
  const shown = lines ?? ['…'];
  const body = height - 1;
  const last = Math.max(0, shown.length - body);
  const from = kind === 'logs' ? last - Math.min(scroll, last) : Math.min(scroll, last);
  const title = kind === 'logs' ? `Log of ${flat(name)}` : `Why ${flat(name)} died last`;
  const hidden = kind === 'logs' ? from : shown.length - from - body;
  const more = hidden > 0 ? `, ${hidden} more ${hidden === 1 ? 'line' : 'lines'}: Space` : '';
  return [
    bar(`${title}${more}`, size.columns, paint),
    ...shown.slice(from, from + body).map((line) => lineOf([{ text: ` ${flat(line)}` }], size.columns)),
    ...Array.from({ length: Math.max(0, body - shown.length) }, () => ''),
  ];
}

const bar = (title: string, columns: number, paint: Paint): string =>
  paint.dim(shorten(`── ${title} ${'─'.repeat(Math.max(0, columns - displayWidth(title) - 4))}`, columns));

// The last line: what was asked, what is typed, or which keys there are.

function footer({ asked, isTyping, filter, message, size, hasHelp, pane: open }: Model, paint: Paint): string {
  const { columns } = size;
  if (asked !== null) {
    const answer = ' y/n ';
    const sentence = shorten(flat(asked.sentence), Math.max(0, columns - answer.length - 1));
    return lineOf(
      [
        { text: `${sentence}?`, brush: paint.bold },
        { text: answer, brush: paint.yellow },
      ],
      columns,
    );
  }
  if (isTyping) return lineOf([{ text: `/${flat(filter)}`, brush: paint.bold }, { text: '█' }], columns);
  if (message !== null) return lineOf([{ text: flat(message), brush: paint.yellow }], columns);
  if (hasHelp) return lineOf([{ text: 'any key: back', brush: paint.dim }], columns);
  const keys = [
    ...(filter === '' ? [] : [`filter "${flat(filter)}" (Esc)`]),
    ...(open === null ? ['w why', 'l logs'] : ['Esc close', 'Space/b scroll']),
    ...['r restart', 's start', 'x stop', '/ filter', 'o sort', '? help', 'q quit'],
  ];
  return lineOf([{ text: keysThatFit(keys, columns), brush: paint.dim }], columns);
}

/** The last two stay whatever happens: with them one finds all others. */
function keysThatFit(keys: readonly string[], columns: number): string {
  for (let left = keys.length - 2; left >= 0; left -= 1) {
    const text = [...keys.slice(0, left), ...keys.slice(-2)].join('  ');
    if (displayWidth(text) <= columns) return text;
  }
  return keys.slice(-2).join('  ');
}

const HELP: readonly (readonly [key: string, what: string])[] = [
  ['↑ ↓  j k', 'choose a component'],
  ['PgUp PgDn Home End', 'further'],
  ['w  Enter', 'why it died last'],
  ['l', 'its log, as it is written'],
  ['Space  b', 'scroll the log or the why'],
  ['r  s  x', 'restart, start, stop: says what it will do, and asks'],
  ['/', 'only those with this in their name or state'],
  ['o', 'sort: as configured, worst first, name, CPU, memory, restarts'],
  ['Esc', 'close, or show all again'],
  ['Ctrl L', 'draw everything again'],
  ['q  Ctrl C', 'quit; nothing is stopped by that'],
  ['24 h or less', '█ up  ▄ trouble  ▁ down  · at rest'],
];

function help({ size }: Model, paint: Paint): readonly string[] {
  const lines = HELP.map(([key, what]) =>
    lineOf([{ text: `  ${key.padEnd(20)}`, brush: paint.bold }, { text: what }], size.columns),
  );
  return size.rows > HELP.length + 2 ? [bar('Keys', size.columns, paint), '', ...lines] : lines;
}
