/** What components wrote: one or several merged, as it comes or from before. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { LogLineView, LogsView } from '../../src/logs/ports.ts';
import { get, Refused, stream } from '../io/api.ts';
import { place, rows } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { plural } from '../lib/format.ts';
import { SHOWN_LEVELS, type ShownLevels } from '../lib/level.ts';
import { merged, positionsAfter } from '../lib/log-buffer.ts';
import { hrefOf } from '../lib/route.ts';
import { LogView } from '../ui/log-view.ts';

const SINCE: readonly (readonly [string, string])[] = [
  ['', 'last lines'],
  ['5', 'last 5 min'],
  ['60', 'last hour'],
  ['1440', 'last day'],
];
const ONLY: Readonly<Record<ShownLevels, string>> = { 'all lines': '', warnings: 'only-warn', errors: 'only-error' };
const AGAIN_MS = 1_000;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

interface Wanted {
  readonly c: string;
  readonly q: string;
  readonly since: string;
  readonly previous: boolean;
}

function queryOf({ c, q, since, previous }: Wanted): URLSearchParams {
  const query = new URLSearchParams();
  if (c !== '') query.set('component', c);
  if (q !== '') query.set('grep', q);
  if (since !== '') query.set('since', String(Date.now() - Number(since) * 60_000));
  if (previous) query.set('previous', 'true');
  else if (since === '') query.set('tail', c === '' || c.includes(',') ? '200' : '1000');
  return query;
}

/** First what is there, in the order in which it was written; then what comes, behind the last line of each, over every interruption. */
async function read(
  wanted: Wanted,
  signal: AbortSignal,
  view: LogView,
  onState: (text: string) => void,
): Promise<void> {
  const last = new Map<string, number>();
  const take = (lines: readonly LogLineView[]): void => {
    for (const { component, offset } of lines) {
      last.delete(component);
      last.set(component, offset);
    }
    view.push(lines);
  };
  const { lines } = await get<LogsView>(`/v1/logs?${queryOf(wanted)}`, signal);
  take(merged(lines));
  onState(wanted.previous ? 'the run before' : 'live');
  while (!wanted.previous && !signal.aborted) {
    const query = new URLSearchParams();
    if (wanted.c !== '') query.set('component', wanted.c);
    if (wanted.q !== '') query.set('grep', wanted.q);
    if (last.size > 0) query.set('after', positionsAfter(last));
    else query.set('tail', '0');
    query.set('follow', 'true');
    try {
      await stream<LogLineView>(`/v1/logs?${query}`, signal, () => onState('live'), take);
    } catch (error) {
      if (error instanceof Refused && error.status < 500) throw error;
    }
    if (!signal.aborted) onState('reconnecting');
    await pause(AGAIN_MS);
  }
}

export function Logs() {
  const { query } = place.value;
  const wanted: Wanted = {
    c: query['c'] ?? '',
    q: query['q'] ?? '',
    since: query['since'] ?? '',
    previous: query['previous'] === '1',
  };
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<LogView | null>(null);
  const following = useSignal(true);
  const wrap = useSignal(true);
  const levels = useSignal<ShownLevels>('all lines');
  const fresh = useSignal(0);
  const state = useSignal('reading');
  const size = useSignal(0);
  const chosen = wanted.c === '' ? [] : wanted.c.split(',');
  const key = JSON.stringify(wanted);

  useEffect(() => {
    const over = new AbortController();
    const shown = new LogView(box.current!, chosen.length !== 1);
    view.current = shown;
    following.value = true;
    fresh.value = 0;
    size.value = 0;
    state.value = 'reading';
    let seen = 0;
    shown.onDrawn = () => {
      const total = shown.buffer.size + shown.buffer.dropped;
      if (!shown.isFollowing) fresh.value += total - seen;
      seen = total;
      size.value = shown.buffer.size;
    };
    read(wanted, over.signal, shown, (text) => (state.value = text)).catch((error: Error) => {
      if (!over.signal.aborted) state.value = `${error.message} ${(error as { hint?: string }).hint ?? ''}`;
    });
    return () => {
      over.abort();
      shown.clear();
    };
  }, [key]);

  const setFollowing = (value: boolean): void => {
    following.value = value;
    if (view.current !== null) view.current.isFollowing = value;
    if (!value) return;
    fresh.value = 0;
    box.current!.scrollTop = box.current!.scrollHeight;
  };
  const seenAt = useRef({ top: 0, height: 0 });
  /** Up, while nothing became shorter: that was somebody. Sections that come into sight change their height by themselves. */
  const onScroll = (): void => {
    if (box.current === null) return;
    const { scrollTop: top, scrollHeight: height } = box.current;
    const before = seenAt.current;
    seenAt.current = { top, height };
    if (following.value && top < before.top - 5 && height >= before.height) setFollowing(false);
  };
  const go = (more: Partial<Record<keyof Wanted, string>>): void => {
    const { c, q, since, previous } = wanted;
    location.hash = hrefOf('logs', null, { c, q, since, previous: previous ? '1' : '', ...more });
  };
  const download = (): void => {
    const text = (view.current?.buffer.lines ?? [])
      .map(({ at, component, line }) => `${at ?? ''} ${component} ${plainText(line)}\n`)
      .join('');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    link.download = `${chosen.length === 0 ? 'all' : chosen.join('-').slice(0, 60)}.log`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const toggle = (name: string): string =>
    (chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]).join(',');

  return (
    <div class="logs">
      <div class="title line">
        <h1>Logs</h1>
        <span
          class="dim"
          role="status"
        >{`${chosen.length === 0 ? 'all components' : chosen.join(', ')} · ${plural(size.value, 'line')} · ${state.value}`}</span>
      </div>
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          go({ q: String(new FormData(event.currentTarget).get('q') ?? '') });
        }}
      >
        <details class="pick">
          <summary>components</summary>
          <div class="menu">
            <a href={hrefOf('logs')}>all</a>
            {rows.value.map(({ name }) => (
              <label key={name}>
                <input type="checkbox" checked={chosen.includes(name)} onChange={() => go({ c: toggle(name) })} />{' '}
                {name}
              </label>
            ))}
          </div>
        </details>
        <input
          name="q"
          type="search"
          class="search"
          aria-label="Text, or /expression/"
          placeholder="text or /expression/"
          defaultValue={wanted.q}
        />
        <select aria-label="Since" value={wanted.since} onChange={(event) => go({ since: event.currentTarget.value })}>
          {SINCE.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <select
          aria-label="Which lines"
          value={levels.value}
          onChange={(event) => (levels.value = event.currentTarget.value as ShownLevels)}
        >
          {SHOWN_LEVELS.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
        <button
          type="button"
          aria-pressed={wanted.previous}
          onClick={() => go({ previous: wanted.previous ? '' : '1' })}
        >
          previous run
        </button>
        <button type="button" aria-pressed={wrap.value} onClick={() => (wrap.value = !wrap.value)}>
          wrap
        </button>
        <button type="button" aria-pressed={!following.value} onClick={() => setFollowing(!following.value)}>
          {following.value ? 'pause' : 'follow'}
        </button>
        <button type="button" onClick={download}>
          download
        </button>
      </form>
      <div class="logbox">
        <div
          ref={box}
          class={`code log ${wrap.value ? 'wraps' : ''} ${ONLY[levels.value]}`}
          role="log"
          aria-live="off"
          aria-label="Lines"
          tabIndex={0}
          onScroll={onScroll}
        />
        {following.value ? null : (
          <button type="button" class="primary jump" onClick={() => setFollowing(true)}>
            {fresh.value > 0 ? `${fresh.value} new ↓` : 'to the end ↓'}
          </button>
        )}
      </div>
    </div>
  );
}
