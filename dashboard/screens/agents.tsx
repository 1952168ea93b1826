/** Agents: who works on what, how often it was respawned, and how the loop that spawns them is. */
import type { AgentsReportView, AgentsView, AgentView } from '../../src/agents/rules/views.ts';
import { post } from '../io/api.ts';
import { useAsked } from '../io/asked.ts';
import { filter, now } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { matcher } from '../lib/filter.ts';
import { formatDuration, formatUptime, plural, roughly } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { ActionButton } from '../ui/act.tsx';
import { Ago, Countdown, Empty, Fact, Panel, Waiting, Word } from '../ui/parts.tsx';

const concerns = (_: string, type: string): boolean => type.startsWith('agent');

export function Agents() {
  const agents = useAsked<AgentsView>('/v1/agents?all=true', concerns);
  const report = useAsked<AgentsReportView>('/v1/agents/report', concerns);
  if (agents.value === null) return <Waiting error={agents.error} />;
  const fits = matcher(filter.value) ?? (() => true);
  const shown = agents.value.agents.filter(({ agent_type, task_id, state }) =>
    fits(`${agent_type} ${task_id} ${state}`),
  );
  const metrics = report.value?.metrics;
  return (
    <>
      <div class="title line">
        <h1>Agents</h1>
        {report.value === null ? null : <Word>{report.value.status}</Word>}
      </div>
      {metrics ? (
        <dl class="facts wide">
          <Fact label="Active">{String(metrics.active_agents)}</Fact>
          <Fact label="Crashes, last hour">{String(metrics.crashed_agents_last_hour)}</Fact>
          <Fact label="Respawns that held">
            {metrics.respawn_success_rate === null ? null : `${Math.round(metrics.respawn_success_rate * 100)} %`}
          </Fact>
          <Fact label="Loop, last sign">
            {metrics.orchestrator_last_poll === null ? null : `${roughly(metrics.orchestrator_last_poll * 1000)} ago`}
          </Fact>
        </dl>
      ) : null}
      {(report.value?.issues.length ?? 0) === 0 ? null : (
        <Panel title="Issues" tone="bad">
          <ul class="plain">
            {report.value!.issues.map((issue, at) => (
              <li
                key={`${at}`}
              >{`${issue.type.replaceAll('_', ' ')}: ${plainText(issue.error)} → ${issue.action_taken}`}</li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title="All agents" more={<span class="dim">{plural(shown.length, 'agent')}</span>}>
        {shown.length === 0 ? (
          <Empty>None. Types of agents are named in the configuration.</Empty>
        ) : (
          <ul class="list">
            {shown.map((one) => (
              <Agent key={`${one.agent_type} ${one.task_id} ${one.run_id ?? one.log}`} one={one} done={agents.again} />
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

function Agent({ one, done }: { one: AgentView; done: () => void }) {
  return (
    <li>
      <Word>{one.condition ?? one.state}</Word>
      <div>
        <p class="what">{`${one.agent_type} · ${plainText(one.task_id)}`}</p>
        <p class="dim">
          {one.pid === null ? '' : `pid ${one.pid} · `}
          {one.started_at === null ? '' : `up ${formatUptime(now.value - Date.parse(one.started_at))} · `}
          {`respawns ${one.respawns} of ${one.max_respawns}`}
          {one.next_attempt_at === null ? null : (
            <span>
              {' '}
              · next in <Countdown to={one.next_attempt_at} />
            </span>
          )}
          {one.timeout_at === null ? null : (
            <span>
              {' '}
              · time is up in <Countdown to={one.timeout_at} />
            </span>
          )}
          {one.heartbeat === null
            ? ''
            : ` · silent ${formatDuration(one.heartbeat.silent_ms)} of ${formatDuration(one.heartbeat.limit_ms)}`}
          {one.last_exit === null ? null : (
            <span>
              {' '}
              · last end <Ago at={one.last_exit.at} />
            </span>
          )}
        </p>
        {one.note === null ? null : <p>{plainText(one.note)}</p>}
      </div>
      <span class="actions">
        {one.log === null ? null : (
          <a class="button" href={hrefOf('logs', null, { c: one.log })}>
            logs
          </a>
        )}
        {one.source === 'keepwell' && one.pid !== null ? (
          <ActionButton
            label="stop"
            consequence={{
              title: `Stop ${one.agent_type}`,
              sentences: [`Ends pid ${one.pid}, which works on ${one.task_id}. It is not respawned.`],
            }}
            go={() => post('/v1/agents/stop', { agent: String(one.pid) })}
            done={done}
          />
        ) : null}
      </span>
    </li>
  );
}
