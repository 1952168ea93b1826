/** Incidents and tickets: open ones first, and what people say about them. */
import { useSignal } from '@preact/signals';
import { type IncidentsView, type IncidentView, othersWith } from '../../src/incidents/rules/view.ts';
import type { TicketsView, TicketView } from '../../src/incidents/tickets/rules/view.ts';
import { post } from '../io/api.ts';
import { useAsked } from '../io/asked.ts';
import { filter, now } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { matcher } from '../lib/filter.ts';
import { formatDuration, plural } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { ActionButton } from '../ui/act.tsx';
import { Ago, Choice, ComponentLink, Empty, Mark, Panel, Waiting, Word } from '../ui/parts.tsx';

const HOUR_MS = 3_600_000;

export function Incidents() {
  const state = useSignal<'open' | 'all'>('open');
  const concerns = (_: string, type: string): boolean => /^(incident|ticket)\./.test(type);
  const incidents = useAsked<IncidentsView>(`/v1/incidents?state=${state.value}&limit=200`, concerns);
  const tickets = useAsked<TicketsView>(`/v1/tickets?state=${state.value}&limit=200`, concerns);
  const fits = matcher(filter.value) ?? (() => true);
  const shown = (incidents.value?.incidents ?? [])
    .filter(({ title, root_cause, subject }) => fits(`${title} ${root_cause ?? ''} ${subject.name}`))
    .toSorted((one, other) => Number(other.state === 'open') - Number(one.state === 'open'));
  return (
    <>
      <div class="title line">
        <h1>Incidents and tickets</h1>
        <Choice label="Which" options={['open', 'all']} value={state.value} onPick={(value) => (state.value = value)} />
      </div>
      <Panel title="Incidents">
        {incidents.value === null ? (
          <Waiting error={incidents.error} />
        ) : shown.length === 0 ? (
          <Empty>None{state.value === 'open' ? ' open' : ''}.</Empty>
        ) : (
          <ul class="list">
            {shown.map((one) => (
              <Incident key={one.id} one={one} done={incidents.again} />
            ))}
          </ul>
        )}
      </Panel>
      <Panel title="Tickets">
        {tickets.value === null ? (
          <Waiting error={tickets.error} />
        ) : tickets.value.tickets.length === 0 ? (
          <Empty>None. Tickets are made when the configuration names a tracker.</Empty>
        ) : (
          <ul class="list">
            {tickets.value.tickets.map((one) => (
              <Ticket key={one.number} one={one} done={tickets.again} />
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

function Incident({ one, done }: { one: IncidentView; done: () => void }) {
  const isOpen = one.state === 'open';
  const isSilent = one.silenced_until !== null && Date.parse(one.silenced_until) > now.value;
  const title = `incident ${one.id}`;
  const also = othersWith(one);
  return (
    <li>
      <Mark tone={isOpen ? 'bad' : 'ok'} shape={isOpen ? 'cross' : 'check'} />
      <div>
        <p class="what">
          {one.subject.kind === 'component' ? (
            <a href={hrefOf('crash', one.subject.name)}>{plainText(one.title)}</a>
          ) : (
            plainText(one.title)
          )}
        </p>
        {one.root_cause === null || one.title.endsWith(one.root_cause) ? null : <p>{plainText(one.root_cause)}</p>}
        <p class="dim">
          <span>{`incident ${one.id} · ${one.state} · seen ${plural(one.count, 'time')}${one.reopened > 0 ? `, came back ${plural(one.reopened, 'time')}` : ''} · first `}</span>
          <Ago at={one.opened_at} />
          <span> · last </span>
          <Ago at={one.last_at} />
          {one.ticket === null ? null : <span>{` · ${one.ticket}`}</span>}
          {one.acknowledged_at === null ? null : <span> · acknowledged</span>}
          {isSilent ? (
            <span>{` · silenced for ${formatDuration(Date.parse(one.silenced_until!) - now.value)}`}</span>
          ) : null}
        </p>
        {also.length === 0 ? null : <p class="dim">{plainText(`also ${also.join(', ')}`)}</p>}
        {one.affected.length === 0 ? null : (
          <p class="dim">
            affects{' '}
            {one.affected.map((name) => (
              <span key={name}>
                <ComponentLink name={name} />{' '}
              </span>
            ))}
          </p>
        )}
      </div>
      {isOpen ? (
        <span class="actions">
          {one.acknowledged_at === null ? (
            <ActionButton
              label="acknowledge"
              consequence={{
                title: `Acknowledge ${title}`,
                sentences: [
                  'Says that somebody is working on it: no more reminders are sent.',
                  'That it is over is told all the same.',
                ],
              }}
              go={() => post(`/v1/incidents/${one.id}/acknowledge`)}
              done={done}
            />
          ) : null}
          {isSilent ? (
            <ActionButton
              label="alerts on"
              consequence={{
                title: `Alerts about ${title}`,
                sentences: ['Alerts about it are sent again from now on.'],
              }}
              go={() => post(`/v1/incidents/${one.id}/silence`, { for_ms: 0 })}
              done={done}
            />
          ) : (
            <ActionButton
              label="silence 1 h"
              consequence={{
                title: `Silence ${title}`,
                sentences: ['No alerts about it are sent for 1 h.', 'That it is over is told all the same.'],
              }}
              go={() => post(`/v1/incidents/${one.id}/silence`, { for_ms: HOUR_MS })}
              done={done}
            />
          )}
        </span>
      ) : null}
    </li>
  );
}

function Ticket({ one, done }: { one: TicketView; done: () => void }) {
  const isOpen = one.state === 'open';
  const trackers = Object.keys(one.deliveries);
  return (
    <li>
      <Mark tone={isOpen ? 'bad' : 'ok'} shape={isOpen ? 'ring' : 'check'} />
      <div>
        <p class="what">{`${one.number} ${plainText(one.title)}`}</p>
        <p class="dim">
          <span>{`${one.state} · ${one.priority} · ${one.category} · seen ${plural(one.count, 'time')} · first `}</span>
          <Ago at={one.first_seen} />
          <span> · last </span>
          <Ago at={one.last_seen} />
        </p>
        {trackers.map((name) => {
          const { state, attempts, error } = one.deliveries[name]!;
          return (
            <p key={name} class="dim">
              <Word>{state}</Word>{' '}
              {`${name}${one.trackers[name] ? `: ${one.trackers[name]}` : ''}${attempts > 0 ? `, ${plural(attempts, 'failed try', 'failed tries')}` : ''}${error === null ? '' : `: ${plainText(error)}`}`}
            </p>
          );
        })}
      </div>
      <span class="actions">
        <ActionButton
          label={isOpen ? 'close' : 'reopen'}
          consequence={{
            title: `${isOpen ? 'Close' : 'Reopen'} ${one.number}`,
            sentences: [
              trackers.length === 0
                ? ''
                : `${trackers.join(' and ')} ${trackers.length === 1 ? 'is' : 'are'} told in the background.`,
              isOpen ? 'The next crash with this cause reopens it.' : '',
            ].filter(Boolean),
          }}
          go={() => post(`/v1/tickets/${one.number}/${isOpen ? 'close' : 'reopen'}`)}
          done={done}
        />
      </span>
    </li>
  );
}
