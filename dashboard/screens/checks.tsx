/** The checks of the configuration in the order in which they need each other, and what they came to. */
import { useSignal } from '@preact/signals';
import type { CheckStretchView, ChecksView, CheckView } from '../../src/checks/rules/view.ts';
import type { CheckResult, HealthReport } from '../../src/checks/spec.ts';
import { levels } from '../../src/supervision/rules/graph.ts';
import { get } from '../io/api.ts';
import { useAsked } from '../io/asked.ts';
import { filter } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { matcher } from '../lib/filter.ts';
import { formatDuration, localTime, plural } from '../lib/format.ts';
import { toneOf } from '../lib/words.ts';
import { Ago, Empty, Mark, Panel, Strip, Waiting } from '../ui/parts.tsx';

/** A message ends with the hint; where that stands below it already, it need not. */
const withoutHint = (message: string, hint: string | null): string =>
  hint !== null && message.endsWith(` - ${hint}`) ? message.slice(0, -hint.length - 3) : message;

/** What it came to before, oldest first. */
const History = ({ name, results }: { name: string; results: readonly CheckStretchView[] }) => (
  <Strip
    label={`${name} before: ${results.map(({ status, count }) => `${status} ${plural(count, 'time')}`).join(', before that ')}`}
    stretches={results.toReversed().map(({ status, message, first_at, last_at, count }) => ({
      fromMs: Date.parse(first_at),
      toMs: Date.parse(last_at),
      tone: toneOf(status),
      about: `${localTime(first_at)} to ${localTime(last_at).slice(-8)}: ${status}, ${plural(count, 'time')}: ${plainText(message)}`,
    }))}
  />
);

export function Checks() {
  const { value, error, again } = useAsked<ChecksView>('/v1/checks?limit=50', (_, type) => type === 'check.changed');
  const report = useSignal<HealthReport | null>(null);
  const trouble = useSignal('');
  const isRunning = useSignal(false);
  const run = async (): Promise<void> => {
    isRunning.value = true;
    trouble.value = '';
    try {
      report.value = await get<HealthReport>('/v1/health');
      again();
    } catch (failure) {
      trouble.value = (failure as Error).message;
    }
    isRunning.value = false;
  };
  if (value === null) return <Waiting error={error} />;
  const fits = matcher(filter.value) ?? (() => true);
  const order = levels(new Map(value.checks.map(({ name, needs }) => [name, needs])));
  const shown = value.checks
    .filter(({ name }) => fits(name))
    .toSorted((one, other) => (order.get(one.name) ?? 0) - (order.get(other.name) ?? 0));
  return (
    <>
      <div class="title line">
        <h1>Checks</h1>
        <button type="button" class="primary" disabled={isRunning.value} onClick={() => void run()}>
          {isRunning.value ? 'running …' : 'run now'}
        </button>
      </div>
      <Panel
        title="In order of needs"
        more={
          <span class="dim">
            {value.every_ms === null ? 'run when somebody asks' : `run every ${formatDuration(value.every_ms)}`}
          </span>
        }
      >
        {trouble.value === '' ? null : <p role="alert">{trouble.value}</p>}
        {shown.length === 0 ? (
          <Empty>None. Checks are named questions in the configuration, asked by "keepwell health".</Empty>
        ) : (
          <ul class="list">
            {shown.map((check) => (
              <Check key={check.name} check={check} now={report.value?.checks[check.name]} />
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

/** `now`: what it came to when somebody just asked. */
function Check({ check: { name, needs, hint, results }, now }: { check: CheckView; now: CheckResult | undefined }) {
  const last = results[0];
  const status = now?.status ?? last?.status ?? 'unknown';
  const tone = toneOf(status);
  return (
    <li>
      <Mark tone={tone} shape={tone === 'ok' ? 'check' : tone === 'bad' ? 'cross' : 'ring'} />
      <div>
        <p class="what">
          {name} <span class={`tone ${tone}`}>{status === 'unknown' ? 'not run yet' : status}</span>
        </p>
        <p>{withoutHint(plainText(now?.message ?? last?.message ?? ''), hint)}</p>
        {status === 'failed' && hint !== null ? <p class="hint">{hint}</p> : null}
        <p class="dim">
          {needs.length === 0 ? '' : `needs ${needs.join(', ')} · `}
          {last === undefined ? '' : `${plural(last.count, 'time')} the same, ${last.last_ms} ms · `}
          {last === undefined ? null : <Ago at={last.last_at} />}
        </p>
      </div>
      {results.length === 0 ? null : <History name={name} results={results} />}
    </li>
  );
}
