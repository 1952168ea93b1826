/** What depends on what, from left to right in the order of starting. */
import { useMemo } from 'preact/hooks';
import type { EventsView } from '../../src/supervision/rules/views.ts';
import { useAsked } from '../io/asked.ts';
import { events, filter, overview } from '../io/live.ts';
import { criticalPath } from '../lib/critical-path.ts';
import { matcher } from '../lib/filter.ts';
import { formatDuration } from '../lib/format.ts';
import { drawingOf, NODE } from '../lib/layout.ts';
import { hrefOf } from '../lib/route.ts';
import { lookOf } from '../lib/words.ts';
import { ComponentLink, Empty, Mark, Panel, Waiting } from '../ui/parts.tsx';

/** How far back the last start is looked for, beyond what the page knows anyway. */
const EARLIER = 1_000;
const MAX_NAME = 17;
const short = (name: string): string => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name);

export function Graph() {
  const view = overview.value;
  const shape = view?.components.map(({ name, depends_on }) => `${name}>${Object.keys(depends_on)}`).join() ?? '';
  const drawing = useMemo(
    () => drawingOf((view?.components ?? []).map(({ name, depends_on }) => ({ name, needs: Object.keys(depends_on) }))),
    [shape],
  );
  const first = useMemo(() => events.peek()[0]?.seq ?? 0, []);
  const earlier = useAsked<EventsView>(
    first <= 1 ? null : `/v1/events?after=${Math.max(0, first - 1 - EARLIER)}&limit=${Math.min(EARLIER, first - 1)}`,
  );
  if (view === null) return <Waiting error={null} />;
  const fits = matcher(filter.value) ?? (() => true);
  const roots = new Set(
    view.attention.flatMap(({ kind, name }) => (kind === 'incident' && name !== null ? [name] : [])),
  );
  const affected = new Set(view.attention.flatMap(({ affects }) => affects));
  const known = [...(earlier.value?.events ?? []), ...events.value];
  const slow = criticalPath(view.components, known);
  const onPath = new Map(slow.map(({ name }, at) => [name, slow[at + 1]?.name ?? null]));
  const byName = new Map(view.components.map((row) => [row.name, row]));
  return (
    <>
      <h1>Graph</h1>
      <Panel
        title="Start order"
        more={
          <span class="dim legend">
            <Mark tone="bad" shape="ring" /> thick frame: root cause · dashed: affected by it · thick line: what the
            last start took its time for
          </span>
        }
      >
        {slow.length === 0 ? null : (
          <p class="path">
            <span class="dim">Critical path of the last start: </span>
            {slow.map(({ name, tookMs }, at) => (
              <span key={name}>
                {at === 0 ? '' : ' → '}
                <ComponentLink name={name} /> <span class="dim num">{formatDuration(tookMs)}</span>
              </span>
            ))}
          </p>
        )}
        {drawing.nodes.length === 0 ? (
          <Empty>The configuration names no component.</Empty>
        ) : (
          <div class="graph" tabIndex={0} role="group" aria-label="Dependencies, from left to right">
            <svg viewBox={`0 0 ${drawing.width} ${drawing.height}`} width={drawing.width} height={drawing.height}>
              {drawing.edges.map(({ from, to, path }) => (
                <path
                  key={`${from} ${to}`}
                  d={path}
                  class={`edge ${affected.has(to) && (roots.has(from) || affected.has(from)) ? 'hot' : onPath.get(from) === to ? 'slow' : ''}`}
                />
              ))}
              {drawing.nodes.map(({ name, x, y }) => {
                const row = byName.get(name);
                if (row === undefined) return null;
                const look = lookOf(row);
                const part = roots.has(name) ? 'root' : affected.has(name) ? 'affected' : '';
                return (
                  <a
                    key={name}
                    href={hrefOf('component', name)}
                    aria-label={`${name}: ${look.word}${roots.has(name) ? ', root cause' : affected.has(name) ? ', affected' : ''}`}
                    class={`node ${part} ${fits(name) ? '' : 'faint'}`}
                  >
                    <title>{`${name}: ${look.word}`}</title>
                    <rect x={x} y={y} width={NODE.width} height={NODE.height} rx="7" />
                    <svg x={x + 11} y={y + 11} width="12" height="12">
                      <Mark {...look} />
                    </svg>
                    <text x={x + 31} y={y + 22}>
                      {short(name)}
                    </text>
                  </a>
                );
              })}
            </svg>
          </div>
        )}
      </Panel>
    </>
  );
}
