/** The checks of the configuration in the order in which they need each other, and what they came to. */
import { useSignal } from '@preact/signals';
import type { ChecksView } from '../../src/checks/rules/view.ts';
import type { HealthReport } from '../../src/checks/spec.ts';
import { levels } from '../../src/supervision/rules/graph.ts';
import { get } from '../io/api.ts';
import { useAsked } from '../io/asked.ts';
import { filter } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { matcher } from '../lib/filter.ts';
import { formatDuration, plural } from '../lib/format.ts';
import { toneOf } from '../lib/words.ts';
import { Ago, Empty, Mark, Panel, Waiting } from '../ui/parts.tsx';

export function Checks() {
  const { value, error, again } = useAsked<ChecksView>('/v1/checks', (_, type) => type === 'check.changed');
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
            {shown.map(({ name, needs, hint, results }) => {
              const now = report.value?.checks[name];
              const last = results[0];
              const status = now?.status ?? last?.status ?? 'unknown';
              const tone = toneOf(status);
              return (
                <li key={name}>
                  <Mark tone={tone} shape={tone === 'ok' ? 'check' : tone === 'bad' ? 'cross' : 'ring'} />
                  <div>
                    <p class="what">
                      {name} <span class={`tone ${tone}`}>{status === 'unknown' ? 'not run yet' : status}</span>
                    </p>
                    <p>{plainText(now?.message ?? last?.message ?? '')}</p>
                    {status === 'failed' && hint !== null ? <p class="hint">{hint}</p> : null}
                    <p class="dim">
                      {needs.length === 0 ? '' : `needs ${needs.join(', ')} · `}
                      {last === undefined ? '' : `${plural(last.count, 'time')} the same, ${last.last_ms} ms · `}
                      {last === undefined ? null : <Ago at={last.last_at} />}
                    </p>
                  </div>
                </li>
              );
            })}
          </ul>
        )}
      </Panel>
    </>
  );
}
