/** The screen people keep open: what needs attention, every component in a row with its day, and what happened. */
import { type Signal, useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AttentionView, OverviewRow, OverviewView } from '../../src/dashboard/rules/views.ts';
import { events, filter, isLive, overview } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { headlineOf, shortNote } from '../lib/attention.ts';
import { matcher } from '../lib/filter.ts';
import { formatBytes, formatDuration, percent, spanName } from '../lib/format.ts';
import { GROUPINGS, type Grouping, groupsOf } from '../lib/groups.ts';
import { belongsTo, type Which } from '../lib/happenings.ts';
import { hrefOf } from '../lib/route.ts';
import { lookOf, urgencyOf } from '../lib/words.ts';
import { Actions, act } from '../ui/act.tsx';
import { EventRows } from '../ui/event-rows.tsx';
import {
  Ago,
  Beats,
  Choice,
  ComponentLink,
  Countdown,
  Empty,
  Mark,
  Panel,
  Spark,
  StateMark,
  Uptime,
  Waiting,
} from '../ui/parts.tsx';

export function Overview() {
  const view = overview.value;
  if (view === null) return <Waiting error={null} />;
  return (
    <>
      <h1 class="hidden">{view.project}: overview</h1>
      <Attention view={view} />
      <Components view={view} />
      <Happened />
    </>
  );
}

function Attention({ view }: { view: OverviewView }) {
  const ill = view.components.filter((row) => urgencyOf(row) <= 1).length;
  if (view.attention.length === 0)
    return (
      <p class="allwell">
        <Mark tone={ill > 0 ? 'warn' : 'ok'} shape={ill > 0 ? 'dashed' : 'check'} />
        {ill > 0 ? 'No open incident.' : 'Nothing needs attention.'}
      </p>
    );
  return (
    <Panel
      title="Needs attention"
      tone="bad"
      more={
        <span class="dim">
          {view.attention.length} of {view.components.length}
        </span>
      }
    >
      <ul class="attention">
        {view.attention.map((one) => (
          <AttentionRow key={`${one.kind}-${one.incident}-${one.title}`} one={one} />
        ))}
      </ul>
    </Panel>
  );
}

function AttentionRow({ one: { affects, ...one } }: { one: AttentionView }) {
  const inHand = one.acknowledged || one.silenced_until !== null;
  const row = overview.value?.components.find(({ name }) => name === one.name);
  const { headline, more } = headlineOf(row?.name ?? null, one);
  return (
    <li class={inHand ? 'inhand' : ''} {...(row ? { 'data-component': row.name } : {})}>
      {row ? <StateMark of={row} /> : <Mark tone="bad" shape="cross" />}
      <div>
        <p class="what">
          {row ? <ComponentLink name={row.name} /> : null}
          <span>{plainText(headline)}</span>
        </p>
        <p class="dim">
          {more === null ? null : <span>{plainText(more)} · </span>}
          {one.since === null ? null : (
            <span>
              since <Ago at={one.since} />
            </span>
          )}
          {affects.length > 0 ? <span> · affects {plainText(affects.join(', '))}</span> : null}
          {one.ticket === null ? null : <span> · {one.ticket}</span>}
          {one.acknowledged ? <span> · acknowledged</span> : null}
          {one.silenced_until === null ? null : <span> · silenced</span>}
        </p>
      </div>
      <span class="actions">
        {row && row.state !== 'waiting' ? (
          <a class="button" href={hrefOf('crash', row.name)}>
            why
          </a>
        ) : null}
        {one.incident === null ? null : (
          <a class="button" href={hrefOf('incidents')}>
            incident {one.incident}
          </a>
        )}
        {row ? (
          <button
            type="button"
            aria-disabled={!isLive.value}
            onClick={() => act(row.state === 'gave-up' || row.state === 'stopped' ? 'start' : 'restart', row.name)}
          >
            {row.state === 'gave-up' || row.state === 'stopped' ? 'start' : 'restart'}
          </button>
        ) : null}
      </span>
    </li>
  );
}

type Order = 'as configured' | 'worst first' | 'name' | 'memory';
const ORDERS: readonly Order[] = ['as configured', 'worst first', 'name', 'memory'];

const COMPARE: Readonly<Record<Order, (one: OverviewRow, other: OverviewRow) => number>> = {
  'as configured': () => 0,
  'worst first': (one, other) => urgencyOf(one) - urgencyOf(other),
  name: (one, other) => one.name.localeCompare(other.name),
  memory: (one, other) => (other.memory_bytes ?? 0) - (one.memory_bytes ?? 0),
};

/** As many as fit on a large screen are painted first. The others are added in turns behind that paint, so that the page answers meanwhile. */
const FIRST_ROWS = 30;
const ROWS_PER_TURN = 100;

/** How many of so many rows are drawn by now. */
function useDrawn(count: number): number {
  const drawn = useSignal(FIRST_ROWS);
  const isWhole = drawn.value >= count;
  useEffect(() => {
    if (isWhole) return;
    let turn: ReturnType<typeof setTimeout>;
    // A timer alone may come before the frame that it is to come after.
    const frame = requestAnimationFrame(() => {
      turn = setTimeout(() => (drawn.value += ROWS_PER_TURN));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(turn);
    };
  }, [drawn.value, isWhole]);
  return drawn.value;
}

function Components({ view }: { view: OverviewView }) {
  const order = useSignal<Order>('as configured');
  const grouping = useSignal<Grouping>('none');
  const drawn = useDrawn(view.components.length);
  const fits = matcher(filter.value);
  const shown =
    fits === null
      ? []
      : view.components.filter((row) => fits(`${row.name} ${row.kind} ${lookOf(row).word} ${row.note ?? ''}`));
  const sorted = [...shown].sort(COMPARE[order.value]);
  const more = (
    <span class="tools">
      {filter.value === '' ? null : (
        <span class="dim">
          {shown.length} of {view.components.length}
        </span>
      )}
      <Select label="group by" options={GROUPINGS} of={grouping} />
      <Select label="order" options={ORDERS} of={order} />
    </span>
  );
  const span = spanName(view.timeline);
  return (
    <Panel title="Components" more={more}>
      {sorted.length === 0 ? (
        <Empty>
          {fits === null
            ? 'This is not an expression.'
            : view.components.length === 0
              ? 'The configuration names no component.'
              : 'Nothing fits the filter.'}
        </Empty>
      ) : (
        <div class="rows" role="table" aria-label="Components" aria-rowcount={sorted.length}>
          <div class="row head" role="row">
            {['Name', 'State', 'Up for', 'Restarts', `Last ${span}`, `Up ${span} · 7 d`, 'CPU', 'Memory'].map(
              (title) => (
                <span key={title} role="columnheader">
                  {title}
                </span>
              ),
            )}
          </div>
          {groupsOf(sorted.slice(0, drawn), grouping.value).map(({ title, rows }) => (
            <Fragment key={title}>
              {title === '' ? null : <GroupHead title={title} rows={rows} />}
              {rows.map((row) => (
                <Row key={row.name} row={row} view={view} />
              ))}
            </Fragment>
          ))}
        </div>
      )}
    </Panel>
  );
}

function Select<T extends string>({ label, options, of }: { label: string; options: readonly T[]; of: Signal<T> }) {
  return (
    <label class="sort">
      <span class="dim">{label}</span>
      <select value={of.value} onChange={(event) => (of.value = event.currentTarget.value as T)}>
        {options.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}

function GroupHead({ title, rows }: { title: string; rows: readonly OverviewRow[] }) {
  const ill = rows.filter((row) => urgencyOf(row) <= 1).length;
  return (
    <div class="row group" role="row">
      <span role="cell" class="name">
        {title} <span class="dim">{rows.length}</span>
        {ill === 0 ? null : <span class="tone bad"> · {ill} need attention</span>}
      </span>
    </div>
  );
}

/** "4 of 10", and in how much time, where any of them were used up. */
function Restarts({ row: { restarts, restart_limit: limit } }: { row: OverviewRow }) {
  if (limit === null || limit.used === 0) return <span class={restarts > 0 ? '' : 'dim'}>{restarts} ↻</span>;
  return (
    <span
      title={`${limit.used} of ${limit.max} in ${formatDuration(limit.within_ms)}; ${restarts} since it was started by hand`}
    >
      {`${limit.used} of ${limit.max} ↻`}
    </span>
  );
}

function Row({ row, view }: { row: OverviewRow; view: OverviewView }) {
  const look = lookOf(row);
  const waits = row.waiting_for.length > 0 ? `for ${row.waiting_for.join(', ')}` : null;
  const note = row.note === null ? null : plainText(shortNote(row.note));
  const isOver = row.state === 'gave-up';
  const isMeant = useSignal(false); // three buttons in each of 500 rows would be most of the page
  const means = (value: boolean) => (): void => {
    isMeant.value = value;
  };
  return (
    <div
      class={`row ${look.tone}`}
      role="row"
      data-component={row.name}
      onPointerEnter={means(true)}
      onPointerLeave={means(false)}
      onFocusIn={means(true)}
    >
      <span role="cell" class="c-name">
        <StateMark of={row} />
        <ComponentLink name={row.name} />
      </span>
      <span role="cell" class="c-state">
        <span class={`tone ${look.tone}`}>{look.word}</span>
        {row.next_attempt_at === null ? null : (
          <span class="next">
            {isOver ? ' next try in ' : ' '}
            <Countdown to={row.next_attempt_at} />
          </span>
        )}
        <span class="note" title={note ?? ''}>
          {waits ?? note ?? (row.state === 'running' && row.ready && row.health === 'healthy' ? 'ready' : '')}
        </span>
      </span>
      <span role="cell" class="num c-up">
        {row.started_at === null ? '' : <Uptime since={row.started_at} />}
      </span>
      <span role="cell" class="num c-restarts">
        <span class="hidden">restarts </span>
        <Restarts row={row} />
      </span>
      <span role="cell" class="c-beats">
        <Beats timeline={row.timeline} frame={view.timeline} name={row.name} />
      </span>
      <span role="cell" class="num c-percent dim">
        {row.up_percent === null ? '' : `${row.up_percent} · ${row.up_percent_week ?? row.up_percent} %`}
      </span>
      <span role="cell" class="num c-cpu">
        <Spark values={row.cpu} max={Math.max(10, ...row.cpu.map((each) => each ?? 0))} label={`CPU of ${row.name}`} />
        <span>{percent(row.cpu_percent)}</span>
      </span>
      <span role="cell" class="num c-memory">
        <Spark
          values={row.memory}
          max={Math.max(1, ...row.memory.map((each) => each ?? 0)) * 1.2}
          label={`Memory of ${row.name}`}
        />
        <span>{row.memory_bytes === null ? '' : formatBytes(row.memory_bytes)}</span>
      </span>
      <span role="cell" class="c-actions">
        {isMeant.value ? <Actions name={row.name} /> : null}
      </span>
    </div>
  );
}

const WHICH: readonly Which[] = ['all', 'failures', 'people'];
const HAPPENED = 25;

function Happened() {
  const which = useSignal<Which>('all');
  const paused = useSignal<readonly (typeof events.value)[number][] | null>(null);
  const fits = matcher(filter.value) ?? (() => true);
  const all = (paused.value ?? events.value).filter(
    (event) => belongsTo(which.value, event) && fits(event.subject.name),
  );
  const missed =
    paused.value === null ? 0 : events.value.filter(({ seq }) => seq > (paused.value?.at(-1)?.seq ?? 0)).length;
  const more = (
    <span class="tools">
      <Choice label="Which events" options={WHICH} value={which.value} onPick={(value) => (which.value = value)} />
      <button
        type="button"
        aria-pressed={paused.value !== null}
        onClick={() => (paused.value = paused.value === null ? events.value : null)}
      >
        {paused.value === null ? 'pause' : missed > 0 ? `go on, ${missed} new` : 'go on'}
      </button>
      <a class="button" href={hrefOf('events')}>
        all events
      </a>
    </span>
  );
  return (
    <Panel title="What happened" more={more}>
      <EventRows events={all.slice(-HAPPENED).reverse()} />
    </Panel>
  );
}
