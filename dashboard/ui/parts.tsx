/** The small parts that every screen is made of. */
import { computed, type ReadonlySignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { OverviewView } from '../../src/dashboard/rules/views.ts';
import { now } from '../io/live.ts';
import { ago, briefly, clock, countdown, localTime, roughly, spanName } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { beatPaths, beatSummary, sparkPath } from '../lib/timeline.ts';
import { BEATS, lookOf, type Seen, SHAPES, type Shape, type Tone, toneOf } from '../lib/words.ts';

/** A shape for each state, so that nobody needs the colour. */
const DRAWN: Readonly<Record<Shape, JSX.Element>> = {
  full: <circle cx="6" cy="6" r="5" fill="currentColor" />,
  half: (
    <g>
      <circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" stroke-width="1.5" />
      <path d="M6 1.5a4.5 4.5 0 0 0 0 9z" fill="currentColor" />
    </g>
  ),
  ring: <circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" stroke-width="1.5" />,
  dashed: (
    <circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" stroke-width="1.7" stroke-dasharray="2.8 1.9" />
  ),
  cross: <path d="M2 2l8 8M10 2l-8 8" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" />,
  check: <path d="M1.8 6.4l3 3.1 5.4-7" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" />,
};

export const Mark = ({ tone, shape }: { tone: Tone; shape: Shape }) => (
  <svg class={`mark ${tone}`} viewBox="0 0 12 12" aria-hidden="true">
    {DRAWN[shape]}
  </svg>
);

export const StateMark = ({ of }: { of: Seen }) => <Mark {...lookOf(of)} />;

/** Any word for a state, with its shape. */
export const Word = ({ children }: { children: string }) => (
  <span class="word">
    <Mark tone={toneOf(children)} shape={SHAPES[toneOf(children)]} />
    {children.replaceAll('-', ' ')}
  </span>
);

/** A text that goes with the time: it alone is drawn anew each second, and only when it changed. */
function useTold(at: string, say: (at: string, nowMs: number) => string): ReadonlySignal<string> {
  return useMemo(() => computed(() => say(at, now.value)), [at]);
}

export const Ago = ({ at }: { at: string }) => (
  <time dateTime={at} title={localTime(at)}>
    {useTold(at, ago)}
  </time>
);

export const Countdown = ({ to }: { to: string }) => (
  <time class="num" dateTime={to} title={localTime(to)}>
    {useTold(to, countdown)}
  </time>
);

const uptime = (since: string, nowMs: number): string => briefly(nowMs - Date.parse(since));
export const Uptime = ({ since }: { since: string }) => <>{useTold(since, uptime)}</>;

export const ComponentLink = ({ name }: { name: string }) => (
  <a href={hrefOf('component', name)} class="name">
    {name}
  </a>
);

export function Panel({
  title,
  more,
  children,
  tone,
}: {
  title: string;
  more?: ComponentChildren;
  children: ComponentChildren;
  tone?: Tone;
}) {
  const id = `panel-${title.toLowerCase().replace(/[^a-z]+/g, '-')}`;
  return (
    <section class={`panel ${tone ?? ''}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {more}
      </header>
      {children}
    </section>
  );
}

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;

/** What a question came to so far, where it is not an answer. */
export const Waiting = ({ error }: { error: Error | null }) => (
  <p class="empty" role="status">
    {error === null ? 'Asking the daemon …' : `${error.message} ${(error as { hint?: string }).hint ?? ''}`}
  </p>
);

/** A day in one line. The pointer says what was when. */
export function Beats({ timeline, frame, name }: { timeline: string; frame: OverviewView['timeline']; name: string }) {
  const [hover, setHover] = useState('');
  const look = (event: PointerEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const at = Math.min(
      timeline.length - 1,
      Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * timeline.length)),
    );
    const from = Date.parse(frame.from) + at * frame.bucket_ms;
    const iso = (ms: number): string => clock(new Date(ms).toISOString()).slice(0, 5);
    setHover(`${iso(from)}–${iso(from + frame.bucket_ms)}: ${BEATS[timeline[at]!]}`);
  };
  const label = `${name}, last ${spanName(frame)}: ${beatSummary(timeline, frame.bucket_ms, BEATS, roughly) || 'nothing known'}`;
  return (
    <span class="beats" title={hover} onPointerMove={look}>
      <svg viewBox={`0 0 ${timeline.length} 10`} preserveAspectRatio="none" role="img" aria-label={label}>
        {[...beatPaths(timeline)].map(([beat, path]) => (
          <path key={beat} class={`beat-${beat === '-' ? 'none' : beat}`} d={path} />
        ))}
      </svg>
    </span>
  );
}

export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly tone: Tone;
  /** What the pointer is told. */
  readonly about: string;
}

/** Results one after the other, from left to right up to now. */
export function Strip({ stretches, label }: { stretches: readonly Stretch[]; label: string }) {
  const [first, to] = [stretches[0]?.fromMs ?? 0, stretches.at(-1)?.toMs ?? 0];
  const x = (ms: number): number => (to === first ? 0 : Math.round(((ms - first) / (to - first)) * 1_000) / 10);
  return (
    <svg class="strip" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={label}>
      {stretches.map(({ fromMs, toMs, tone, about }, at) => {
        const until = stretches[at + 1]?.fromMs ?? toMs;
        const [left, width] = to === first ? [0, 100] : [x(fromMs), Math.max(0.8, x(until) - x(fromMs))];
        return (
          <rect
            key={fromMs}
            class={tone}
            x={left}
            width={width}
            y={tone === 'ok' ? 3 : 0}
            height={tone === 'ok' ? 7 : 10}
          >
            <title>{about}</title>
          </rect>
        );
      })}
    </svg>
  );
}

/** A single point is no curve. */
export const Spark = ({ values, max, label }: { values: readonly (number | null)[]; max: number; label: string }) =>
  values.filter((value) => value !== null).length < 2 ? null : (
    <svg class="spark" viewBox="0 0 60 16" preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={sparkPath(values, max, 60, 16)} />
    </svg>
  );

export const Fact = ({ label, children }: { label: string; children: ComponentChildren }) =>
  children === null || children === '' || children === undefined ? null : (
    <div class="fact">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );

/** A choice of a few, as buttons of which one is pressed. */
export function Choice<T extends string>({
  label,
  options,
  value,
  onPick,
}: {
  label: string;
  options: readonly T[];
  value: T;
  onPick: (value: T) => void;
}) {
  return (
    <fieldset class="choice">
      <legend class="hidden">{label}</legend>
      {options.map((option) => (
        <button type="button" key={option} aria-pressed={option === value} onClick={() => onPick(option)}>
          {option}
        </button>
      ))}
    </fieldset>
  );
}
