/** The same letters as in `keepwell top`, wherever nobody is typing. */
import { filter, place } from '../io/live.ts';
import { hrefOf } from '../lib/route.ts';
import { act, asking } from './act.tsx';
import { open } from './palette.tsx';
import { nextTheme } from './theme.ts';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('input, textarea, select');

const rowsShown = (): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-component]')];

/** The row with the focus, or the component that the screen is about. */
function meant(): string | null {
  const row = document.activeElement?.closest<HTMLElement>('[data-component]');
  return row?.dataset['component'] ?? (place.value.screen === 'component' ? place.value.name : null);
}

function move(by: number): void {
  const all = rowsShown();
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const row = all[at === -1 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  row?.querySelector<HTMLElement>('a')?.focus();
}

const KEYS: Readonly<Record<string, () => void>> = {
  '/': () => document.querySelector<HTMLInputElement>('#filter')?.focus(),
  '?': () => {
    open.value = 'help';
  },
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  o: () => {
    location.hash = hrefOf('overview');
  },
  t: nextTheme,
};

const FOR_ONE: Readonly<Record<string, (name: string) => void>> = {
  r: (name) => act('restart', name),
  s: (name) => act('start', name),
  x: (name) => act('stop', name),
  l: (name) => {
    location.hash = hrefOf('logs', null, { c: name });
  },
  w: (name) => {
    location.hash = hrefOf('crash', name);
  },
};

export function onKey(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    open.value = 'palette';
    return;
  }
  if (event.key === 'Escape' && event.target instanceof HTMLInputElement && event.target.id === 'filter') {
    filter.value = '';
    event.target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (open.value !== null || asking.value !== null) return;
  const isArrow = event.key.startsWith('Arrow');
  if (isArrow && rowsShown().length === 0) return;
  const name = meant();
  const plain = KEYS[event.key] ?? (name === null ? undefined : () => FOR_ONE[event.key]?.(name));
  if (plain === undefined || (KEYS[event.key] === undefined && FOR_ONE[event.key] === undefined)) return;
  event.preventDefault();
  plain();
}
