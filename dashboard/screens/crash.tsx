/** The crash dossier: everything that is known about one death, in the order in which somebody needs it. And the list of them. */
import { useSignal } from '@preact/signals';
import { describeEnd, describeExit } from '../../src/base/pure/exit.ts';
import { howEarly } from '../../src/crashes/rules/earlier.ts';
import type { CrashesView, CrashView, WhyView } from '../../src/supervision/rules/views.ts';
import { useAsked } from '../io/asked.ts';
import { filter, now, place, rows, said } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import {
  changedText,
  countersText,
  crashLine,
  dossierMarkdown,
  frameGroups,
  headline,
  isSimulated,
  type Siblings,
  siblingsOf,
} from '../lib/dossier.ts';
import { matcher } from '../lib/filter.ts';
import { formatBytes, formatDuration, localTime, plural } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { histogram } from '../lib/timeline.ts';
import { lookOf } from '../lib/words.ts';
import { Actions } from '../ui/act.tsx';
import { LineText } from '../ui/line-text.tsx';
import { Ago, ComponentLink, Empty, Fact, Mark, Panel, StateMark, Waiting, Word } from '../ui/parts.tsx';

const HOUR_MS = 3_600_000;

/** By its number, or the newest one of a name. */
export function Crash() {
  const name = place.value.name ?? '';
  const isNumber = /^\d+$/.test(name);
  const why = useAsked<WhyView>(
    isNumber ? `/v1/crashes/${name}` : `/v1/why/${encodeURIComponent(name)}`,
    isNumber ? null : (who) => who === name,
  );
  const all = useAsked<CrashesView>('/v1/crashes?limit=1000');
  if (why.value === null) return <Waiting error={why.error} />;
  return <Dossier why={why.value} siblings={siblingsOf(why.value, all.value?.crashes ?? [])} />;
}

function Dossier({ why, siblings }: { why: WhyView; siblings: Siblings | null }) {
  const row = rows.value.find(({ name }) => name === why.subject.name);
  const copied = useSignal(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(dossierMarkdown(why));
    copied.value = true;
    said.value = 'Copied as Markdown.';
  };
  return (
    <article class="dossier">
      <header class="title">
        <p class="crumb">
          {why.subject.kind === 'component' ? (
            <ComponentLink name={why.subject.name} />
          ) : (
            <span>{`${why.subject.kind} ${why.subject.name}`}</span>
          )}
          <span class="dim"> · crash {why.id} · </span>
          <Ago at={why.at} />
          {isSimulated(why) ? <span class="tag">simulated</span> : null}
        </p>
        <h1>{headline(why)}</h1>
        {why.root_cause === null ? null : <p class="cause">{plainText(why.root_cause)}</p>}
        <div class="tools">
          <button type="button" class="primary" onClick={() => void copy()}>
            {copied.value ? 'copied' : 'copy as Markdown'}
          </button>
          {siblings?.earlier == null ? null : (
            <a class="button" href={hrefOf('crash', siblings.earlier)}>
              ← earlier, same cause
            </a>
          )}
          {siblings?.later == null ? null : (
            <a class="button" href={hrefOf('crash', siblings.later)}>
              later, same cause →
            </a>
          )}
          {row ? <Actions name={row.name} /> : null}
        </div>
      </header>
      <div class="columns">
        <div>
          <Stack why={why} />
          <Tail why={why} />
          <Freeze why={why} />
        </div>
        <aside>
          <Facts why={why} />
          <Trend siblings={siblings} />
          <Dependencies why={why} />
          <ProbesBefore why={why} />
        </aside>
      </div>
    </article>
  );
}

function Facts({ why }: { why: WhyView }) {
  const { exit } = why;
  const row = rows.value.find(({ name }) => name === why.subject.name);
  return (
    <Panel title="What is known">
      <dl class="facts">
        <Fact label="Ended">{describeExit(exit)}</Fact>
        <Fact label="Process">{exit.unhealthy ? describeEnd(exit) : null}</Fact>
        <Fact label="When">{`${localTime(why.at)}, after running for ${formatDuration(why.uptime_ms)}`}</Fact>
        <Fact label="Used">
          {exit.usage
            ? `at most ${formatBytes(exit.usage.max_rss_bytes)} of memory, ${formatDuration(exit.usage.cpu_ms)} of CPU time`
            : null}
        </Fact>
        <Fact label="Before that">
          {why.earlier_error
            ? `an error ${howEarly(why.earlier_error)}: ${plainText(why.earlier_error.summary)}`
            : null}
        </Fact>
        <Fact label="Decision">{plainText(why.decision)}</Fact>
        <Fact label="Rule">
          <code>{why.rule.name}</code> <span class="dim">{countersText(why)}</span>
        </Fact>
        {why.subject.kind === 'component' ? <Fact label="Changed">{changedText(why.changed_since_good)}</Fact> : null}
        <Fact label="Task">{why.task_id}</Fact>
        <Fact label="Incident">
          {why.incident === null ? null : (
            <a href={hrefOf('incidents')}>{`${why.incident}${why.ticket === null ? '' : `, ticket ${why.ticket}`}`}</a>
          )}
        </Fact>
        <Fact label="Now">
          {row ? (
            <span class="word">
              <StateMark of={row} />
              {lookOf(row).word}
            </span>
          ) : null}
        </Fact>
        <Fact label="Run">
          <code>{why.run_id}</code>
        </Fact>
      </dl>
    </Panel>
  );
}

function Stack({ why }: { why: WhyView }) {
  const earlier = why.earlier_error;
  if (why.stack.length === 0 && (earlier?.stack.length ?? 0) === 0 && why.related_files.length === 0) return null;
  return (
    <Panel title="Stack" more={<span class="dim">own frames are open</span>}>
      <Frames stack={why.stack} files={why.related_files} />
      {earlier !== null && earlier.stack.length > 0 ? (
        <>
          <h3>Of the earlier error</h3>
          <Frames stack={earlier.stack} files={earlier.related_files} />
        </>
      ) : null}
      {why.related_files.length === 0 ? null : (
        <ul class="files" aria-label="Files">
          {why.related_files.map((file) => (
            <li key={file}>
              <code>{plainText(file)}</code>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

const Frames = ({ stack, files }: { stack: readonly string[]; files: readonly string[] }) => (
  <div class="code">
    {frameGroups(stack, files).map(({ own, frames }, at) =>
      own ? (
        frames.map((frame, index) => (
          <div key={`${at}-${index}`} class="frame own">
            {plainText(frame)}
          </div>
        ))
      ) : (
        <details key={`${at}`}>
          <summary>{plural(frames.length, 'frame')} of libraries</summary>
          {frames.map((frame, index) => (
            <div key={`${at}-${index}`} class="frame">
              {plainText(frame)}
            </div>
          ))}
        </details>
      ),
    )}
  </div>
);

function Tail({ why }: { why: WhyView }) {
  const marked = crashLine(why.log_tail, why);
  return (
    <Panel
      title="Its last lines"
      more={
        why.subject.kind === 'component' ? (
          <a class="button" href={hrefOf('logs', null, { c: why.subject.name })}>
            logs
          </a>
        ) : null
      }
    >
      {why.log_tail.length === 0 ? (
        <Empty>It wrote nothing.</Empty>
      ) : (
        <ol class="code tail">
          {why.log_tail.map((line, at) => (
            <li
              key={`${at}`}
              class={at === marked ? 'crashline' : ''}
              {...(at === marked ? { 'aria-label': `The line that tells of it: ${plainText(line)}` } : {})}
            >
              <LineText line={line} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Freeze({ why: { freeze } }: { why: WhyView }) {
  if (freeze === null) return null;
  return (
    <Panel title={freeze.timeout ? 'It ran too long' : 'Its heartbeat was overdue'}>
      <p>{plainText(freeze.reason)}</p>
      <ol class="events">
        {freeze.steps.map(({ at, text }) => (
          <li key={at + text}>
            <time class="num dim" dateTime={at}>
              {localTime(at).slice(-8)}
            </time>
            <span>{plainText(text)}</span>
          </li>
        ))}
      </ol>
      <h3>What it was doing</h3>
      <ol class="code tail">
        {freeze.evidence.map((line, at) => (
          <li key={`${at}`}>
            <LineText line={line} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** How often the same cause struck. */
function Trend({ siblings }: { siblings: Siblings | null }) {
  if (siblings === null) return null;
  const to = now.value;
  const bars = histogram(siblings.times, to - 24 * HOUR_MS, to, 24);
  const most = Math.max(1, ...bars);
  return (
    <Panel title="The same cause">
      <p>
        {siblings.total === 1 ? 'Seen once.' : `Seen ${siblings.total} times, first `}
        {siblings.total === 1 ? null : <Ago at={siblings.firstAt} />}
        {siblings.total === 1 ? null : ', last '}
        {siblings.total === 1 ? null : <Ago at={siblings.lastAt} />}
      </p>
      <svg
        class="bars"
        viewBox="0 0 96 20"
        preserveAspectRatio="none"
        role="img"
        aria-label={`By hour, last 24 hours: ${bars.join(', ')}`}
      >
        {bars.map((value, at) => (
          <rect
            key={`${at}`}
            x={at * 4}
            y={value === 0 ? 19 : 19 - (value / most) * 18}
            width="3.2"
            height={value === 0 ? 1 : (value / most) * 18 + 1}
            class={value === 0 ? 'none' : 'bad'}
          />
        ))}
      </svg>
      <p class="dim ends">
        <span>24 h ago</span>
        <span>now</span>
      </p>
    </Panel>
  );
}

function Dependencies({ why }: { why: WhyView }) {
  if (why.dependencies.length === 0) return null;
  return (
    <Panel title="Dependencies at that time">
      <ul class="plain">
        {why.dependencies.map(({ name, condition, state, ready }) => (
          <li key={name}>
            <ComponentLink name={name} /> <Word>{state}</Word>{' '}
            <span class="dim">{`${ready ? 'ready' : 'not ready'}, needed: ${condition}`}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function ProbesBefore({ why }: { why: WhyView }) {
  if (why.probes.length === 0) return null;
  return (
    <Panel title="Its probes before that">
      <ul class="plain">
        {why.probes.map(({ role, question, outcome, message, count, last_at, last_ms }) => (
          <li key={role + question + last_at}>
            <Word>{outcome}</Word> {role} <code>{question}</code>
            <span class="dim">{` ${plainText(message)} · ${plural(count, 'time')} · ${last_ms} ms · `}</span>
            <Ago at={last_at} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export const CrashRows = ({ crashes }: { crashes: readonly CrashView[] }) => (
  <ul class="list">
    {crashes.map((crash) => (
      <li key={crash.id}>
        <Mark tone="bad" shape="cross" />
        <div>
          <a class="what" href={hrefOf('crash', crash.id)}>
            {headline(crash)}
          </a>
          <p class="dim">
            <span>{`${crash.subject.name} · ${describeExit(crash.exit)} · lived ${formatDuration(crash.uptime_ms)} · `}</span>
            <Ago at={crash.at} />
          </p>
          {crash.root_cause === null ? null : <p>{plainText(crash.root_cause)}</p>}
        </div>
        <span class="dim decision">{plainText(crash.decision)}</span>
      </li>
    ))}
  </ul>
);

export function Crashes() {
  const { value, error } = useAsked<CrashesView>('/v1/crashes?limit=200', (_, type) =>
    /exited|crashed|unhealthy/.test(type),
  );
  if (value === null) return <Waiting error={error} />;
  const fits = matcher(filter.value) ?? (() => true);
  const shown = value.crashes.filter((crash) =>
    fits(`${crash.subject.name} ${headline(crash)} ${crash.root_cause ?? ''}`),
  );
  return (
    <>
      <h1>Crashes</h1>
      <Panel title="Newest first" more={<span class="dim">{plural(shown.length, 'crash', 'crashes')}</span>}>
        {shown.length === 0 ? <Empty>None: nothing has died.</Empty> : <CrashRows crashes={shown} />}
      </Panel>
    </>
  );
}
