/** Runs, probes, CPU and memory of one component under each other, on one axis and with one cursor. */
import { useState } from 'preact/hooks';
import { describeExit } from '../../src/base/pure/exit.ts';
import type { ProbeStretchView, RunView, SampleView } from '../../src/supervision/rules/views.ts';
import { clock, formatBytes, formatDuration, localTime, percent } from '../lib/format.ts';
import { type Axis, areaPath, niceMax, type Point, ticks, timeAt, xOf } from '../lib/timeline.ts';
import { Empty } from './parts.tsx';

interface Props {
  readonly spanMs: number;
  readonly now: number;
  readonly runs: readonly RunView[];
  readonly probes: readonly ProbeStretchView[];
  readonly samples: readonly SampleView[];
  readonly softMemory: number | null;
}

const WIDTH = 1_000;
const GAP_MS = 120_000;
const CURVE = 46;

const time = (iso: string): number => Date.parse(iso);

export function Lanes({ spanMs, now, runs, probes, samples, softMemory }: Props) {
  const [cursor, setCursor] = useState<number | null>(null);
  const axis: Axis = { fromMs: now - spanMs, toMs: now, width: WIDTH };
  const inSpan = ({ first_at, last_at }: { first_at: string; last_at: string }): boolean =>
    time(last_at) >= axis.fromMs && time(first_at) <= axis.toMs;
  const seen = samples.filter(inSpan).toReversed();
  const shownRuns = runs.filter(({ ended_at }) => ended_at === null || time(ended_at) >= axis.fromMs);
  const asked = [...new Set(probes.map(({ role, question }) => `${role} ${question}`))];
  const cpu = points(seen, ({ cpu_percent }) => cpu_percent);
  const memory = points(seen, ({ memory_bytes }) => memory_bytes);
  const crashes = shownRuns.flatMap(({ crashed, ended_at }) => (crashed && ended_at !== null ? [time(ended_at)] : []));
  if (shownRuns.length === 0 && seen.length === 0) return <Empty>Nothing is known of this time.</Empty>;
  const move = (event: PointerEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const label = Number.parseFloat(getComputedStyle(event.currentTarget as Element).getPropertyValue('--label')) || 0;
    const x = ((event.clientX - box.left - label) / (box.width - label)) * WIDTH;
    setCursor(x < 0 || x > WIDTH ? null : timeAt(axis, x));
  };
  const marks = (
    <>
      {crashes.map((at) => (
        <path key={at} class="crashmark" d={`M${xOf(axis, at)} 0V100`} />
      ))}
      {cursor === null ? null : <path class="cursor" d={`M${xOf(axis, cursor)} 0V100`} />}
    </>
  );
  return (
    <div class="lanes" onPointerMove={move} onPointerLeave={() => setCursor(null)}>
      <p class="readout num" role="status">
        {cursor === null ? (
          <span class="dim">Point at a time: every lane says how it was then. Red lines are crashes.</span>
        ) : (
          readout(cursor, shownRuns, probes, seen)
        )}
      </p>
      <Lane label="runs" height={14} about={`${shownRuns.length} runs, ${crashes.length} crashes`}>
        {shownRuns.map((run) => (
          <rect
            key={run.run_id}
            class={run.crashed ? 'bad' : run.ended_at === null ? 'ok' : 'idle'}
            x={xOf(axis, time(run.started_at))}
            width={Math.max(
              1.5,
              xOf(axis, run.ended_at === null ? axis.toMs : time(run.ended_at)) - xOf(axis, time(run.started_at)) - 1,
            )}
            y="1"
            height="12"
          />
        ))}
        {marks}
      </Lane>
      {asked.map((question) => (
        <Lane key={question} label={question} height={12} about="answers of this probe">
          {probes
            .filter((each) => `${each.role} ${each.question}` === question && inSpan(each))
            .map((each) => (
              <rect
                key={each.first_at + each.run_id}
                class={each.outcome === 'pass' ? 'ok' : each.outcome === 'fail' ? 'bad' : 'warn'}
                x={xOf(axis, time(each.first_at))}
                width={Math.max(2, xOf(axis, time(each.last_at)) - xOf(axis, time(each.first_at)))}
                y={each.outcome === 'pass' ? 4 : 1}
                height={each.outcome === 'pass' ? 4 : 10}
              />
            ))}
          {marks}
        </Lane>
      ))}
      <Curve label="CPU" points={cpu} axis={axis} least={5} say={percent} limit={null}>
        {marks}
      </Curve>
      <Curve label="memory" points={memory} axis={axis} least={1} say={formatBytes} limit={softMemory}>
        {marks}
      </Curve>
      <Ticks axis={axis} />
    </div>
  );
}

const points = (samples: readonly SampleView[], value: (sample: SampleView) => number | null): readonly Point[] =>
  samples.map((sample) => ({ fromMs: time(sample.first_at), toMs: time(sample.last_at), value: value(sample) }));

function Lane({
  label,
  height,
  about,
  children,
}: {
  label: string;
  height: number;
  about: string;
  children: preact.ComponentChildren;
}) {
  return (
    <div class="lane">
      <span class="dim" title={label}>
        {label}
      </span>
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${about}`}
      >
        {children}
      </svg>
    </div>
  );
}

interface CurveProps {
  readonly label: string;
  readonly points: readonly Point[];
  readonly axis: Axis;
  readonly least: number;
  readonly limit: number | null;
  readonly say: (value: number) => string;
  readonly children: preact.ComponentChildren;
}

function Curve({ label, points: all, axis, least, say, limit, children }: CurveProps) {
  if (all.every(({ value }) => value === null)) return null;
  const most = Math.max(least, ...all.map(({ value }) => value ?? 0));
  const max = niceMax(limit !== null && limit < most * 12 ? Math.max(most, limit) : most);
  return (
    <Lane
      label={limit !== null && limit <= max ? `${label}, limit ${say(limit)}` : `${label}, up to ${say(max)}`}
      height={CURVE}
      about={`at most ${say(most)}`}
    >
      <path class="area" d={areaPath(all, axis, max, CURVE, GAP_MS)} />
      {limit !== null && limit <= max ? (
        <path class="limit" d={`M0 ${CURVE - (limit / max) * (CURVE - 3)}H${WIDTH}`}>
          <title>{`limit: ${say(limit)}`}</title>
        </path>
      ) : null}
      {children}
    </Lane>
  );
}

const Ticks = ({ axis }: { axis: Axis }) => (
  <div class="lane ticks" aria-hidden="true">
    <span />
    <div>
      {ticks(axis, 8, -new Date(axis.toMs).getTimezoneOffset() * 60_000).map((at) => (
        <span key={at} class="num dim" style={{ left: `${xOf(axis, at) / 10}%` }}>
          {clock(new Date(at).toISOString()).slice(0, 5)}
        </span>
      ))}
    </div>
  </div>
);

function readout(
  at: number,
  runs: readonly RunView[],
  probes: readonly ProbeStretchView[],
  samples: readonly SampleView[],
): string {
  const run = runs.find(
    ({ started_at, ended_at }) => time(started_at) <= at && (ended_at === null || time(ended_at) >= at),
  );
  const probe = probes.find(({ first_at, last_at }) => time(first_at) <= at && time(last_at) >= at);
  const sample = samples.find(({ first_at, last_at }) => time(first_at) - 30_000 <= at && time(last_at) + 30_000 >= at);
  return [
    localTime(new Date(at).toISOString()),
    run
      ? `ran for ${formatDuration(at - time(run.started_at))}${run.exit ? `, then ${describeExit(run.exit)}` : ''}`
      : 'did not run',
    ...(probe ? [`${probe.role} ${probe.outcome}: ${probe.message} (${probe.last_ms} ms, ${probe.count}×)`] : []),
    ...(sample ? [`CPU ${percent(sample.cpu_percent)}`, formatBytes(sample.memory_bytes)] : []),
  ].join(' · ');
}
