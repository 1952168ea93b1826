/** Campaigns: how far each is, how long it still takes, and what its experiments came to. */
import {
  type CampaignSummary,
  type CampaignsView,
  type CampaignView,
  progressOf,
} from '../../src/campaigns/rules/views.ts';
import { useAsked } from '../io/asked.ts';
import { place } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { formatDuration } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { Ago, Empty, Panel, Waiting, Word } from '../ui/parts.tsx';

export const Campaigns = () => (place.value.name === null ? <All /> : <One name={place.value.name} />);

const Progress = ({ of: { done, failed, total } }: { of: CampaignSummary }) => (
  <svg
    class="progress"
    viewBox="0 0 100 6"
    preserveAspectRatio="none"
    role="img"
    aria-label={`${done} of ${total} done, ${failed} failed`}
  >
    <rect class="none" width="100" height="6" />
    <rect class="ok" width={total === 0 ? 0 : (done / total) * 100} height="6" />
    <rect
      class="bad"
      x={total === 0 ? 0 : (done / total) * 100}
      width={total === 0 ? 0 : (failed / total) * 100}
      height="6"
    />
  </svg>
);

function All() {
  const { value, error } = useAsked<CampaignsView>('/v1/campaigns', () => false);
  if (value === null) return <Waiting error={error} />;
  return (
    <>
      <h1>Campaigns</h1>
      <Panel title="Newest first">
        {value.campaigns.length === 0 ? (
          <Empty>None. "keepwell campaign run FILE" runs one.</Empty>
        ) : (
          <ul class="list">
            {value.campaigns.map((one) => (
              <li key={one.campaign}>
                <Word>{one.state}</Word>
                <div>
                  <a class="what" href={hrefOf('campaigns', one.campaign)}>
                    {plainText(one.campaign)}
                  </a>
                  <p class="dim">
                    {`${one.done} of ${one.total} done, ${one.failed} failed · `}
                    <Ago at={one.created_at} />
                  </p>
                  <Progress of={one} />
                </div>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

function One({ name }: { name: string }) {
  const { value, error } = useAsked<CampaignView>(`/v1/campaigns/${encodeURIComponent(name)}`, () => false);
  if (value === null) return <Waiting error={error} />;
  const experiments = value.experiments.map((one) => ({
    ...one,
    exitCode: one.exit_code,
    durationMs: one.duration_ms,
  }));
  const { leftMs } = progressOf(experiments as unknown as Parameters<typeof progressOf>[0], 0);
  return (
    <>
      <div class="title">
        <p class="crumb">
          <a href={hrefOf('campaigns')}>campaigns</a>
        </p>
        <h1>
          {plainText(value.campaign)} <Word>{value.state}</Word>
        </h1>
        <p class="dim">
          {`${value.done} of ${value.total} done, ${value.failed} failed`}
          {value.state === 'running' && leftMs !== null ? ` · about ${formatDuration(leftMs)} left at most` : ''}
          {value.reason === null ? '' : ` · ${plainText(value.reason)}`}
        </p>
        <Progress of={value} />
      </div>
      <Panel title="Experiments">
        <ul class="list">
          {value.experiments.map((one) => (
            <li key={one.name}>
              <Word>{one.state}</Word>
              <div>
                <p class="what">{plainText(one.name)}</p>
                <p class="dim">{`${one.service} · attempt ${one.attempts}${one.exit_code === null ? '' : ` · exit code ${one.exit_code}`}${one.duration_ms === null ? '' : ` · ${formatDuration(one.duration_ms)}`}`}</p>
                {one.reason === null ? null : <p>{plainText(one.reason)}</p>}
              </div>
            </li>
          ))}
        </ul>
      </Panel>
    </>
  );
}
