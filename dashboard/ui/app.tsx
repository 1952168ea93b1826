/** The frame of every screen: header, navigation, the screen itself, and what lies over it. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { keepToken } from '../io/api.ts';
import { access, again, ageSeconds, filter, isLive, link, overview, place, said } from '../io/live.ts';
import { openIncidents } from '../lib/attention.ts';
import { hrefOf, type Screen } from '../lib/route.ts';
import { Agents } from '../screens/agents.tsx';
import { Campaigns } from '../screens/campaigns.tsx';
import { Checks } from '../screens/checks.tsx';
import { Component } from '../screens/component.tsx';
import { Crash, Crashes } from '../screens/crash.tsx';
import { Events } from '../screens/events.tsx';
import { Graph } from '../screens/graph.tsx';
import { Incidents } from '../screens/incidents.tsx';
import { Logs } from '../screens/logs.tsx';
import { Overview } from '../screens/overview.tsx';
import { Sessions } from '../screens/sessions.tsx';
import { ActionDialog } from './act.tsx';
import { canNotify, notifies, toggleNotify } from './notify.ts';
import { Help, NAVIGATION, open, Palette } from './palette.tsx';
import { Mark } from './parts.tsx';
import { nextTheme, theme } from './theme.ts';

const SCREENS: Readonly<Record<Screen, () => JSX.Element>> = {
  overview: Overview,
  component: Component,
  crash: Crash,
  crashes: Crashes,
  logs: Logs,
  incidents: Incidents,
  graph: Graph,
  checks: Checks,
  agents: Agents,
  sessions: Sessions,
  campaigns: Campaigns,
  events: Events,
};

const stale = (): string => `reconnecting, data is ${ageSeconds.value} s old`;

function Link() {
  if (link.value === 'live')
    return (
      <span class="link ok">
        <Mark tone="ok" shape="full" />
        live<span class="dim wide"> · {ageSeconds.value} s ago</span>
      </span>
    );
  return (
    <span class="link bad">
      <Mark tone="warn" shape="dashed" />
      {link.value === 'connecting' ? 'connecting' : stale()}
    </span>
  );
}

function Header() {
  const incidents = openIncidents(overview.value);
  const name = overview.value?.project ?? access.value?.project ?? '';
  return (
    <header class="top">
      <a class="brand" href={hrefOf('overview')}>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M3 3v14M3 10l6-6M6.2 7.5L12 17M11 6l2.5 9L17 6" />
        </svg>
        <span class="wide">Keepwell</span>
      </a>
      <strong class="project">{name}</strong>
      <Link />
      <span class="grow" />
      <label class="filter">
        <span class="hidden">Filter</span>
        <input
          id="filter"
          type="search"
          placeholder="filter"
          autocomplete="off"
          spellcheck={false}
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
        />
        <kbd>/</kbd>
      </label>
      <button type="button" class="quiet" onClick={() => (open.value = 'palette')}>
        <span class="wide">Go to </span>
        <kbd>Ctrl K</kbd>
      </button>
      <button type="button" class="quiet" aria-label="Keys" onClick={() => (open.value = 'help')}>
        ?
      </button>
      <button
        type="button"
        class="quiet"
        aria-label={`Theme: ${theme.value}`}
        title={`Theme: ${theme.value}`}
        onClick={nextTheme}
      >
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.4" />
          <path
            d={
              theme.value === 'light'
                ? ''
                : theme.value === 'dark'
                  ? 'M2 8a6 6 0 0 0 12 0a6 6 0 0 0 -12 0'
                  : 'M8 2a6 6 0 0 0 0 12z'
            }
            fill="currentColor"
          />
        </svg>
      </button>
      {canNotify ? (
        <button
          type="button"
          class="quiet"
          aria-label="Notify me"
          aria-pressed={notifies.value}
          title={
            notifies.value
              ? 'This desktop is told of what needs attention while the page is in the background'
              : 'Tell this desktop of what needs attention while the page is in the background'
          }
          onClick={() => void toggleNotify()}
        >
          <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
            <path
              d="M4 7a4 4 0 0 1 8 0c0 3 1 4 1.6 4.6H2.4C3 11 4 10 4 7zM6.6 13.4a1.5 1.5 0 0 0 2.8 0"
              fill={notifies.value ? 'currentColor' : 'none'}
              stroke="currentColor"
              stroke-width="1.4"
              stroke-linejoin="round"
            />
          </svg>
        </button>
      ) : null}
      {access.value?.role === 'read' ? <span class="tag">read only</span> : null}
      <nav aria-label="Screens">
        {NAVIGATION.map(([screen, text]) => (
          <a key={screen} href={hrefOf(screen)} aria-current={place.value.screen === screen ? 'page' : undefined}>
            {text}
            {screen === 'incidents' && incidents > 0 ? <span class="count">{incidents}</span> : null}
          </a>
        ))}
      </nav>
    </header>
  );
}

const typed = signal('');

/** Nobody gets in without the token; where to find it is all that is said. */
function Denied() {
  const go = (event: Event): void => {
    event.preventDefault();
    keepToken(typed.value.trim());
    again();
  };
  return (
    <main class="denied">
      <h1>This page needs its token</h1>
      <p>
        Run <code>keepwell dashboard</code> in the project: it opens the page with the token in its address. Or paste
        the token here.
      </p>
      <form onSubmit={go}>
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Open
        </button>
      </form>
    </main>
  );
}

export function App() {
  const { screen, name } = place.value;
  const isStale = link.value === 'away';
  const project = overview.value?.project ?? '';
  const attention = overview.value?.attention.length ?? 0;
  useLayoutEffect(() => {
    const where = screen === 'overview' ? '' : ` · ${name ?? screen}`;
    document.title = isStale
      ? `${stale()} · Keepwell`
      : `${attention > 0 ? `(${attention}) ` : ''}${project}${where} · Keepwell`;
  }, [screen, name, isStale ? ageSeconds.value : 0, project, attention]);
  if (link.value === 'denied') return <Denied />;
  const Shown = SCREENS[screen];
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('main')?.focus()}>
        Skip to the screen
      </button>
      <Header />
      {isStale ? (
        <p class="banner" role="alert">
          The daemon does not answer. What you see is how it was before. The page goes on by itself when the daemon is
          back.
        </p>
      ) : null}
      <main id="main" data-screen={screen} tabIndex={-1} class={isLive.value ? '' : 'stale'}>
        <Shown key={`${screen} ${name}`} />
      </main>
      <div class="hidden" role="status" aria-live="polite">
        {said.value}
      </div>
      <ActionDialog />
      <Palette />
      <Help />
    </>
  );
}
