/** `keepwell top` without the terminal: what is shown, and what a key or a piece of news makes of it. Pure. */
import { consequences, type Verb } from '../../dashboard/rules/consequences.ts';
import type { OverviewRow, OverviewView } from '../../dashboard/rules/views.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import type { Key } from './keys.ts';

export const SORTS = ['as configured', 'worst first', 'name', 'CPU', 'memory', 'restarts'] as const;
export type Sort = (typeof SORTS)[number];

export type PaneKind = 'logs' | 'why';

export interface Pane {
  readonly kind: PaneKind;
  readonly name: string;
  /** Null: not there yet. */
  readonly lines: readonly string[] | null;
  /** Lines away from where it begins: why at its top, logs at their end. */
  readonly scroll: number;
}

export interface Asked {
  readonly verb: Verb;
  readonly name: string;
  readonly sentence: string;
}

export interface Model {
  readonly now: number;
  readonly size: { readonly columns: number; readonly rows: number };
  readonly view: OverviewView | null;
  /** When the view was read. */
  readonly readAt: number;
  /** Nobody answers since then, or never did. */
  readonly isAway: boolean;
  /** Why the records had to be asked; null: the daemon was. */
  readonly offline: string | null;
  /** Newest last. */
  readonly events: readonly EventView[];
  readonly selected: string | null;
  readonly filter: string;
  readonly isTyping: boolean;
  readonly sort: Sort;
  readonly pane: Pane | null;
  readonly asked: Asked | null;
  readonly hasHelp: boolean;
  /** What came of the last action, until the next key. */
  readonly message: string | null;
}

export type News =
  | { readonly kind: 'key'; readonly key: Key }
  | { readonly kind: 'view'; readonly view: OverviewView; readonly offline: string | null }
  | { readonly kind: 'events'; readonly events: readonly EventView[] }
  | { readonly kind: 'away' }
  | { readonly kind: 'pane'; readonly of: PaneKind; readonly name: string; readonly lines: readonly string[] }
  | { readonly kind: 'said'; readonly message: string }
  | { readonly kind: 'size'; readonly columns: number; readonly rows: number };

export type Effect =
  | { readonly kind: 'quit' }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'repaint' }
  | { readonly kind: 'read'; readonly of: PaneKind; readonly name: string }
  | { readonly kind: 'act'; readonly verb: Verb; readonly name: string };

export interface Step {
  readonly model: Model;
  readonly effects: readonly Effect[];
}

const MAX_EVENTS = 200;
const PAGE = 10;

export const firstModel = (now: number, size: Model['size']): Model => ({
  ...{ now, size, view: null, readAt: now, isAway: false, offline: null, events: [], selected: null, filter: '' },
  ...{ isTyping: false, sort: 'as configured', pane: null, asked: null, hasHelp: false, message: null },
});

/** `now`: what every time on the screen is counted from. */
export function step(before: Model, news: News, now: number): Step {
  const model = { ...before, now };
  switch (news.kind) {
    case 'key':
      return onKey(model, news.key);
    case 'view':
      return same(withSelection({ ...model, view: news.view, offline: news.offline, readAt: now, isAway: false }));
    case 'events':
      return same({ ...model, events: [...model.events, ...news.events].slice(-MAX_EVENTS) });
    case 'away':
      return same({ ...model, isAway: true });
    case 'pane':
      return same(
        model.pane?.kind === news.of && model.pane.name === news.name
          ? { ...model, pane: { ...model.pane, lines: news.lines } }
          : model,
      );
    case 'said':
      return same({ ...model, message: news.message });
    case 'size':
      return { model: { ...model, size: { columns: news.columns, rows: news.rows } }, effects: [{ kind: 'repaint' }] };
    default:
      throw new Error(`no such news: ${news satisfies never}`);
  }
}

const same = (model: Model): Step => ({ model, effects: [] });

// Rows in the order in which they are shown.

export function shownRows({ view, filter, sort }: Pick<Model, 'view' | 'filter' | 'sort'>): readonly OverviewRow[] {
  const wanted = filter.toLowerCase();
  const rows = (view?.components ?? []).filter(({ name, state }) => `${name} ${state}`.includes(wanted));
  const order = ORDERS[sort];
  return order === null ? rows : rows.toSorted(order);
}

const WORST: Readonly<Record<OverviewRow['state'], number>> = {
  ...{ 'gave-up': 0, 'backing-off': 1, stopping: 3, starting: 4, waiting: 5, running: 6, stopped: 7, completed: 8 },
};

export const badness = ({ state, condition, health, ready }: OverviewRow): number =>
  state === 'running' && (condition !== null || health === 'unhealthy' || !ready) ? 2 : WORST[state];

const byName = (one: OverviewRow, other: OverviewRow): number => (one.name < other.name ? -1 : 1);
const most =
  (value: (row: OverviewRow) => number) =>
  (one: OverviewRow, other: OverviewRow): number =>
    value(other) - value(one) || byName(one, other);

const ORDERS: Readonly<Record<Sort, ((one: OverviewRow, other: OverviewRow) => number) | null>> = {
  'as configured': null,
  'worst first': most((row) => -badness(row)),
  name: byName,
  CPU: most(({ cpu_percent }) => cpu_percent ?? -1),
  memory: most(({ memory_bytes }) => memory_bytes ?? -1),
  restarts: most(({ restarts }) => restarts),
};

/** Somebody is always selected where there is anybody. */
function withSelection(model: Model): Model {
  const rows = shownRows(model);
  if (rows.some(({ name }) => name === model.selected)) return model;
  return { ...model, selected: rows[0]?.name ?? null };
}

// Keys.

function onKey(before: Model, key: Key): Step {
  const model = { ...before, message: null };
  if (key === 'ctrl-c') return { model, effects: [{ kind: 'quit' }] };
  if (key === 'ctrl-z') return { model, effects: [{ kind: 'suspend' }] };
  if (key === 'ctrl-l') return { model, effects: [{ kind: 'repaint' }] };
  if (model.hasHelp) return key === 'q' ? quit(model) : same({ ...model, hasHelp: false });
  if (model.asked !== null) return onAnswer(model, model.asked, key);
  if (model.isTyping) return same(withSelection(onTyped(model, key)));
  return KEYS[key]?.(model) ?? same(model);
}

const quit = (model: Model): Step => ({ model, effects: [{ kind: 'quit' }] });

/** Only a y does it: whoever types on by mistake has stopped nothing. */
function onAnswer(model: Model, { verb, name }: Asked, key: Key): Step {
  const closed = { ...model, asked: null };
  return key === 'y' || key === 'Y' ? { model: closed, effects: [{ kind: 'act', verb, name }] } : same(closed);
}

function onTyped(model: Model, key: Key): Model {
  const { filter } = model;
  switch (key) {
    case 'enter':
      return { ...model, isTyping: false };
    case 'escape':
      return { ...model, isTyping: false, filter: '' };
    case 'ctrl-u':
      return { ...model, filter: '' };
    case 'backspace':
      return { ...model, filter: [...filter].slice(0, -1).join('') };
    default:
      return [...key].length === 1 ? { ...model, filter: filter + key } : moved(model, MOVES[key] ?? 0);
  }
}

const MOVES: Readonly<Record<Key, number>> = {
  ...{ up: -1, k: -1, down: 1, j: 1, 'page-up': -PAGE, 'page-down': PAGE },
  ...{ home: -Infinity, g: -Infinity, end: Infinity, G: Infinity },
};

function moved(model: Model, by: number): Model {
  const rows = shownRows(model);
  const at = rows.findIndex(({ name }) => name === model.selected);
  const to = Math.max(0, Math.min(rows.length - 1, Math.max(0, at) + by));
  return { ...model, selected: rows[to]?.name ?? null };
}

/** An open pane shows whoever is selected. */
function move(model: Model, by: number): Step {
  const next = moved(model, by);
  if (next.pane === null || next.selected === null || next.pane.name === next.selected) return same(next);
  return opened(next, next.pane.kind, next.selected);
}

const opened = (model: Model, kind: PaneKind, name: string): Step => ({
  model: { ...model, pane: { kind, name, lines: null, scroll: 0 } },
  effects: [{ kind: 'read', of: kind, name }],
});

/** The same key again closes it. */
const toggle =
  (kind: PaneKind) =>
  (model: Model): Step => {
    if (model.selected === null) return same(model);
    if (model.pane?.kind === kind) return same({ ...model, pane: null });
    return opened(model, kind, model.selected);
  };

const scroll =
  (by: number) =>
  (model: Model): Step =>
    same(
      model.pane === null ? model : { ...model, pane: { ...model.pane, scroll: Math.max(0, model.pane.scroll + by) } },
    );

const ask =
  (verb: Verb) =>
  (model: Model): Step => {
    const all = model.view?.components ?? [];
    const row = all.find(({ name }) => name === model.selected);
    if (row === undefined) return same(model);
    if (model.isAway || model.offline !== null) {
      return same({ ...model, message: `nobody is there to ${verb} ${row.name}: the daemon does not answer` });
    }
    return same({ ...model, asked: { verb, name: row.name, sentence: consequences(verb, row, all) } });
  };

/** One thing at a time: first the pane goes, then the filter. */
const onEscape = (model: Model): Step =>
  same(model.pane !== null ? { ...model, pane: null } : withSelection({ ...model, filter: '' }));

const KEYS: Readonly<Record<Key, (model: Model) => Step>> = {
  ...Object.fromEntries(Object.entries(MOVES).map(([key, by]) => [key, (model: Model) => move(model, by)])),
  q: quit,
  '?': (model) => same({ ...model, hasHelp: true }),
  '/': (model) => same({ ...model, isTyping: true }),
  o: (model) => same({ ...model, sort: SORTS[(SORTS.indexOf(model.sort) + 1) % SORTS.length]! }),
  l: toggle('logs'),
  w: toggle('why'),
  enter: toggle('why'),
  ' ': scroll(PAGE),
  b: scroll(-PAGE),
  escape: onEscape,
  r: ask('restart'),
  s: ask('start'),
  x: ask('stop'),
};
