/** Ctrl K: go anywhere, do anything, by typing a few letters of it. And ?: which keys there are. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { rows } from '../io/live.ts';
import { ranked } from '../lib/filter.ts';
import { hrefOf, type Screen } from '../lib/route.ts';
import { act } from './act.tsx';

export const open = signal<'palette' | 'help' | null>(null);

export const NAVIGATION: readonly (readonly [Screen, string])[] = [
  ['overview', 'Overview'],
  ['incidents', 'Incidents'],
  ['crashes', 'Crashes'],
  ['logs', 'Logs'],
  ['graph', 'Graph'],
  ['checks', 'Checks'],
  ['agents', 'Agents'],
  ['sessions', 'Sessions'],
  ['campaigns', 'Campaigns'],
  ['events', 'Events'],
];

/** The browser tells of it a moment later: by then the other one may be open. */
function closed(which: 'palette' | 'help'): void {
  if (open.value === which) open.value = null;
}

interface Entry {
  readonly text: string;
  readonly what: string;
  readonly go: () => void;
}

const to = (hash: string) => (): void => {
  location.hash = hash;
};

function entries(): readonly Entry[] {
  const names = rows.value.map(({ name }) => name);
  return [
    ...names.map((name) => ({ text: name, what: 'component', go: to(hrefOf('component', name)) })),
    ...NAVIGATION.map(([screen, text]) => ({ text, what: 'screen', go: to(hrefOf(screen)) })),
    ...names.map((name) => ({ text: `logs ${name}`, what: 'logs', go: to(hrefOf('logs', null, { c: name })) })),
    ...(['restart', 'start', 'stop'] as const).flatMap((verb) =>
      names.map((name) => ({ text: `${verb} ${name}`, what: 'action', go: () => act(verb, name) })),
    ),
  ];
}

const SHOWN = 12;

export function Palette() {
  const ref = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const isOpen = open.value === 'palette';
  useLayoutEffect(() => {
    if (isOpen) {
      setTyped('');
      setAt(0);
      ref.current?.showModal();
    } else ref.current?.close();
  }, [isOpen]);
  const found = isOpen ? ranked(typed, entries(), ({ text }) => text).slice(0, SHOWN) : [];
  const pick = (entry: Entry | undefined): void => {
    open.value = null;
    entry?.go();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') pick(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={ref} class="palette" aria-label="Go to" onClose={() => closed('palette')}>
      <input
        type="text"
        role="combobox"
        aria-label="Go to a component or screen, or do something"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${at}`}
        placeholder="Component, screen or action"
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div id="palette-list" role="listbox" aria-label="Found">
        {found.map((entry, index) => (
          <div
            key={entry.text + entry.what}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => pick(entry)}
            onKeyDown={onKey}
          >
            <span>{entry.text}</span>
            <span class="dim">{entry.what}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'go to a component or screen, or do something'],
  ['/', 'filter what is shown'],
  ['↑ ↓ or k j', 'the row before, the row after'],
  ['Enter', 'open the component'],
  ['w', 'why did it die?'],
  ['l', 'its logs'],
  ['r', 'restart'],
  ['s', 'start'],
  ['x', 'stop'],
  ['o', 'the overview'],
  ['t', 'light, dark, or as the system'],
  ['?', 'this help'],
  ['Esc', 'close, or clear the filter'],
];

export function Help() {
  const ref = useRef<HTMLDialogElement>(null);
  const isOpen = open.value === 'help';
  useLayoutEffect(() => {
    if (isOpen) ref.current?.showModal();
    else ref.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={ref} aria-labelledby="help-title" onClose={() => closed('help')}>
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="dim">
        r, s, x, l and w are for the row with the focus, or the component on the screen. Nothing is done before you
        confirm it.
      </p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => (open.value = null)}>
          Close
        </button>
      </div>
    </dialog>
  );
}
