/** One component: what it is doing, its runs, probes, CPU and memory on one axis, its crashes, and the last it wrote. */
import { useSignal } from '@preact/signals';
import { describeExit } from '../../src/base/pure/exit.ts';
import type { LogsView } from '../../src/logs/ports.ts';
import type { ConfigurationView } from '../../src/supervision/rules/configuration-view.ts';
import type {
  ComponentView,
  CrashesView,
  ProbesView,
  RunsView,
  SamplesView,
} from '../../src/supervision/rules/views.ts';
import { useAsked } from '../io/asked.ts';
import { now, place } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { formatBytes, formatDuration, formatUptime, localTime, percent, plural } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { lookOf } from '../lib/words.ts';
import { Actions } from '../ui/act.tsx';
import { Lanes } from '../ui/lanes.tsx';
import { LineText } from '../ui/line-text.tsx';
import {
  Ago,
  Choice,
  ComponentLink,
  Countdown,
  Empty,
  Fact,
  Mark,
  Panel,
  StateMark,
  Waiting,
  Word,
} from '../ui/parts.tsx';
import { CrashRows } from './crash.tsx';

const SPANS = { '10 min': 600_000, '1 h': 3_600_000, '6 h': 21_600_000, '24 h': 86_400_000 } as const;
type SpanName = keyof typeof SPANS;

export function Component() {
  const name = place.value.name ?? '';
  const at = encodeURIComponent(name);
  const ours = (who: string): boolean => who === name;
  const component = useAsked<ComponentView>(`/v1/components/${at}`, ours);
  const runs = useAsked<RunsView>(`/v1/runs?component=${at}&limit=200`, ours);
  const probes = useAsked<ProbesView>(`/v1/components/${at}/probes?limit=300`, ours);
  const samples = useAsked<SamplesView>(`/v1/samples?component=${at}&limit=2000`, ours);
  const crashes = useAsked<CrashesView>(`/v1/crashes?component=${at}&limit=20`, ours);
  const logs = useAsked<LogsView>(`/v1/logs?component=${at}&tail=200`, ours);
  const chosen = useSignal<SpanName | null>(null);
  const configuration = useAsked<ConfigurationView>(`/v1/components/${at}/configuration`, ours);
  const view = component.value;
  if (view === null) return <Waiting error={component.error} />;
  const look = lookOf(view);
  const span = chosen.value ?? shortest(runs.value?.runs.at(-1)?.started_at ?? null);
  return (
    <>
      <header class="title">
        <p class="crumb dim">
          {view.kind}
          {view.container === null ? '' : ` ${view.container}`}
        </p>
        <h1>
          <StateMark of={view} /> {view.name} <span class={`tone ${look.tone}`}>{look.word}</span>
        </h1>
        {view.note === null ? null : <p class="cause">{plainText(view.note)}</p>}
        <div class="tools">
          <Actions name={view.name} />
          <a class="button" href={hrefOf('logs', null, { c: view.name })}>
            logs
          </a>
          <a class="button" href={hrefOf('crash', view.name)}>
            why
          </a>
        </div>
      </header>
      <Facts view={view} />
      <Panel
        title="Over time"
        more={
          <Choice
            label="How much time"
            options={Object.keys(SPANS) as SpanName[]}
            value={span}
            onPick={(value) => (chosen.value = value)}
          />
        }
      >
        <Lanes
          spanMs={SPANS[span]}
          now={now.value}
          runs={runs.value?.runs ?? []}
          probes={probes.value?.probes ?? []}
          samples={samples.value?.samples ?? []}
          softMemory={
            configuration.value?.limits.soft_memory_bytes ??
            view.resources?.soft_memory_bytes ??
            view.limits.find((limit) => limit.name === 'memory')?.max ??
            null
          }
        />
      </Panel>
      <Probes view={view} />
      {configuration.value === null ? null : <Configuration of={configuration.value} />}
      <Panel title="Runs" more={<span class="dim">{plural(runs.value?.runs.length ?? 0, 'run')}</span>}>
        {runs.value === null ? <Waiting error={runs.error} /> : <Runs runs={runs.value} />}
      </Panel>
      <Panel title="Crashes">
        {crashes.value === null ? (
          <Waiting error={crashes.error} />
        ) : crashes.value.crashes.length === 0 ? (
          <Empty>It never died unasked.</Empty>
        ) : (
          <CrashRows crashes={crashes.value.crashes} />
        )}
      </Panel>
      <Panel
        title="Last 200 lines"
        more={
          <a class="button" href={hrefOf('logs', null, { c: view.name })}>
            follow
          </a>
        }
      >
        {logs.value === null ? (
          <Waiting error={logs.error} />
        ) : logs.value.lines.length === 0 ? (
          <Empty>It wrote nothing.</Empty>
        ) : (
          <ol class="code tail tall" tabIndex={0} aria-label="Last lines">
            {logs.value.lines.map(({ line, offset }) => (
              <li key={offset}>
                <LineText line={line} />
              </li>
            ))}
          </ol>
        )}
      </Panel>
    </>
  );
}

/** All that is known, in as little time as shows it. */
function shortest(firstAt: string | null): SpanName {
  const ageMs = firstAt === null ? 0 : now.peek() - Date.parse(firstAt);
  return (Object.keys(SPANS) as SpanName[]).find((name) => SPANS[name] >= ageMs) ?? '24 h';
}

function Facts({ view }: { view: ComponentView }) {
  const { resources, heartbeat, last_exit: last } = view;
  const needs = Object.entries(view.depends_on);
  return (
    <dl class="facts wide">
      <Fact label="Up for">
        {view.started_at === null ? null : formatUptime(now.value - Date.parse(view.started_at))}
      </Fact>
      <Fact label="Process">{view.pid === null ? null : `pid ${view.pid}`}</Fact>
      <Fact label="Restarts">
        {view.restart_limit
          ? `${view.restart_limit.used} of ${view.restart_limit.max} in ${formatDuration(view.restart_limit.within_ms)}`
          : String(view.restarts)}
      </Fact>
      <Fact label="Next try">{view.next_attempt_at === null ? null : <Countdown to={view.next_attempt_at} />}</Fact>
      <Fact label="Last end">
        {last === null ? null : (
          <span>
            {describeExit(last)}, <Ago at={last.at} />
          </span>
        )}
      </Fact>
      <Fact label="CPU">{resources ? percent(resources.cpu_percent) : null}</Fact>
      <Fact label="Memory">
        {resources
          ? `${formatBytes(resources.memory_bytes)}${resources.soft_memory_bytes === null ? '' : ` of ${formatBytes(resources.soft_memory_bytes)}`}`
          : null}
      </Fact>
      <Fact label="Files, threads, processes">
        {resources ? `${resources.fds ?? '?'}, ${resources.threads}, ${resources.processes}` : null}
      </Fact>
      <Fact label="Heartbeat">{heartbeat ? <Heartbeat of={heartbeat} /> : null}</Fact>
      <Fact label="Needs">
        {needs.length === 0
          ? null
          : needs.map(([name, condition]) => (
              <span key={name}>
                <ComponentLink name={name} /> <span class="dim">{condition}</span>{' '}
              </span>
            ))}
      </Fact>
      <Fact label="Image">{view.container_details?.image ?? null}</Fact>
      <Fact label="Ports">{view.container_details?.ports.join(', ') || null}</Fact>
      <Fact label="Limits">
        {view.limits
          .map(
            ({ name, max, mechanism }) =>
              `${name} ${name === 'memory' ? formatBytes(max) : max}${mechanism === null ? ' (not in force)' : ''}`,
          )
          .join(', ') || null}
      </Fact>
    </dl>
  );
}

/** How long it has been silent, against how long it may be. */
const Heartbeat = ({
  of: { silent_ms, limit_ms, source, problem },
}: {
  of: NonNullable<ComponentView['heartbeat']>;
}) => (
  <span>
    {`silent ${formatDuration(silent_ms)} of ${formatDuration(limit_ms)} `}
    <span class="dim">{problem ?? source}</span>
    <svg class="progress" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="none" width="100" height="6" />
      <rect
        class={silent_ms > limit_ms / 2 ? 'bad' : 'ok'}
        width={Math.min(100, (silent_ms / limit_ms) * 100)}
        height="6"
      />
    </svg>
  </span>
);

const waits = ({ min, max }: { min: number; max: number }): string =>
  formatDuration(min) === formatDuration(max)
    ? formatDuration(max)
    : `${formatDuration(min)} to ${formatDuration(max)}`;

/** As it was applied, with every default. Of variables only the names are ever shown. */
function Configuration({ of }: { of: ConfigurationView }) {
  const { stop, restart, schedule, limits } = of;
  const { limit } = restart;
  return (
    <Panel title="Configuration as applied" more={<span class="dim">values of variables are never shown</span>}>
      <div class="halves">
        <dl class="facts">
          <Fact label="Command">{of.command === null ? null : <code>{of.command.map(shown).join(' ')}</code>}</Fact>
          <Fact label="Image">{of.image}</Fact>
          <Fact label="Folder">
            <code>{of.cwd}</code>
          </Fact>
          <Fact label="User">{of.user}</Fact>
          <Fact label="Variables">{of.env_names.length === 0 ? null : <code>{of.env_names.join(' ')}</code>}</Fact>
          <Fact label="From files">{of.env_files.join(', ') || null}</Fact>
          <Fact label="Stop">{`${stop.signal}, then SIGKILL after ${formatDuration(stop.grace_ms)}`}</Fact>
          <Fact label="Restart">{`${restart.policy}${restart.never_on.length === 0 ? '' : `, never on ${restart.never_on.join(', ')}`}`}</Fact>
          <Fact label="Limits">
            {[
              limits.memory_bytes === null ? '' : `memory ${formatBytes(limits.memory_bytes)}`,
              limits.soft_memory_bytes === null ? '' : `soft memory ${formatBytes(limits.soft_memory_bytes)}`,
              limits.pids === null ? '' : `${limits.pids} processes`,
              limits.nofile === null ? '' : `${limits.nofile} open files`,
              limits.cpus === null ? '' : `${limits.cpus} CPUs`,
            ]
              .filter(Boolean)
              .join(', ') || 'none'}
          </Fact>
        </dl>
        <div>
          <h3>If every run fails at once</h3>
          {schedule.length === 0 ? (
            <p>It is not restarted.</p>
          ) : (
            <ol class="schedule" aria-label="Backoff schedule">
              {schedule.map(({ restart: number, wait_ms }) => (
                <li key={number}>
                  <span class="dim">{number}</span> {waits(wait_ms)}
                </li>
              ))}
            </ol>
          )}
          <p class="dim">
            {of.gives_up_after === null
              ? 'It never gives up.'
              : `Gives up after ${plural(of.gives_up_after, 'restart')} (limit ${limit.max} in ${formatDuration(limit.within_ms)})${limit.retry_ms === null ? '.' : `, then tries once every ${formatDuration(limit.retry_ms)}.`}`}
          </p>
        </div>
      </div>
    </Panel>
  );
}

/** As one would have to type it. */
const shown = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(plainText(word)));

function Probes({ view }: { view: ComponentView }) {
  if (view.probes.length === 0) return null;
  return (
    <Panel title="Probes">
      <ul class="list">
        {view.probes.map((probe) => (
          <li key={probe.role + probe.question}>
            <Mark
              tone={probe.verdict === 'pass' ? 'ok' : probe.verdict === 'fail' ? 'bad' : 'busy'}
              shape={probe.verdict === 'pass' ? 'full' : probe.verdict === 'fail' ? 'cross' : 'ring'}
            />
            <div>
              <p class="what">
                {probe.role} <code>{probe.question}</code>
              </p>
              {probe.last === null ? (
                <p class="dim">not asked yet</p>
              ) : (
                <p class="dim">
                  {`${probe.last.outcome}: ${plainText(probe.last.message)} · ${Math.round(probe.last.duration_ms)} ms · `}
                  <Ago at={probe.last.at} />
                </p>
              )}
            </div>
            <span class="dim num">{`${probe.failures} of ${probe.failure_threshold} failures`}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Runs({ runs: { runs } }: { runs: RunsView }) {
  if (runs.length === 0) return <Empty>It never ran.</Empty>;
  return (
    <div class="runs" role="table" aria-label="Runs">
      <div class="run head" role="row">
        {['Began', 'Lived', 'End', 'Decision'].map((title) => (
          <span key={title} role="columnheader">
            {title}
          </span>
        ))}
      </div>
      {runs.slice(0, 50).map((run) => (
        <div class="run" role="row" key={run.run_id}>
          <span role="cell" class="num">
            {localTime(run.started_at)}
          </span>
          <span role="cell" class="num">
            {formatUptime((run.ended_at === null ? now.value : Date.parse(run.ended_at)) - Date.parse(run.started_at))}
          </span>
          <span role="cell">
            {run.exit === null ? (
              <Word>{run.ended_at === null ? 'running' : 'unknown'}</Word>
            ) : (
              <span class="word">
                <Mark tone={run.crashed ? 'bad' : 'idle'} shape={run.crashed ? 'cross' : 'ring'} />
                {`${describeExit(run.exit)}${run.planned ? ', asked for' : ''}`}
              </span>
            )}
          </span>
          <span role="cell" class="dim">
            {[run.decision, run.rule].filter(Boolean).join(' · ')}
          </span>
        </div>
      ))}
    </div>
  );
}
