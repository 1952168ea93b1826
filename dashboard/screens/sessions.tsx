/** Sessions: one user's container each, with the time that is left of its lease. */
import type { SessionsView } from '../../src/sessions/rules/view.ts';
import { post } from '../io/api.ts';
import { useAsked } from '../io/asked.ts';
import { filter } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { matcher } from '../lib/filter.ts';
import { plural } from '../lib/format.ts';
import { ActionButton } from '../ui/act.tsx';
import { Ago, Countdown, Empty, Panel, Waiting, Word } from '../ui/parts.tsx';

const HALF_HOUR_MS = 1_800_000;

export function Sessions() {
  const { value, error, again } = useAsked<SessionsView>('/v1/sessions', (_, type) => type.startsWith('session.'));
  if (value === null) return <Waiting error={error} />;
  const fits = matcher(filter.value) ?? (() => true);
  const shown = value.sessions.filter(({ session_id, user_id, challenge_id }) =>
    fits(`${session_id} ${user_id} ${challenge_id}`),
  );
  return (
    <>
      <h1>Sessions</h1>
      <Panel title="Open sessions" more={<span class="dim">{plural(shown.length, 'session')}</span>}>
        {shown.length === 0 ? (
          <Empty>None. Sessions are made from templates of the configuration.</Empty>
        ) : (
          <ul class="list">
            {shown.map((one) => (
              <li key={one.session_id}>
                <Word>{one.health_status === 'unhealthy' ? 'unhealthy' : one.state}</Word>
                <div>
                  <p class="what">{`${plainText(one.user_id)} · ${one.challenge_id}`}</p>
                  <p class="dim">
                    <code>{one.session_id.slice(0, 8)}</code>
                    {one.port === null ? '' : ` · ${one.host}:${one.port}`} · {plural(one.restarts, 'restart')} · made{' '}
                    <Ago at={one.created_at} /> · lease ends in <Countdown to={one.expires_at} />
                  </p>
                  {one.health_reason === null ? null : <p>{plainText(one.health_reason)}</p>}
                </div>
                <span class="actions">
                  <ActionButton
                    label="extend 30 min"
                    consequence={{
                      title: `Extend the session of ${one.user_id}`,
                      sentences: ['Its lease ends 30 min later, as far as its template allows.'],
                    }}
                    go={() => post(`/v1/sessions/${one.session_id}/extend`, { by_ms: HALF_HOUR_MS })}
                    done={again}
                  />
                  <ActionButton
                    label="stop"
                    consequence={{
                      title: `Stop the session of ${one.user_id}`,
                      sentences: ['Ends it and removes its container, with all that is in it.'],
                    }}
                    go={() => post(`/v1/sessions/${one.session_id}/stop`)}
                    done={again}
                  />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}
