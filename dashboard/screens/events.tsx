/** Everything that happened, newest first; or what happened around one moment. */
import { useSignal } from '@preact/signals';
import { events, filter, place } from '../io/live.ts';
import { matcher } from '../lib/filter.ts';
import { humanTimes, localTime } from '../lib/format.ts';
import { around, belongsTo, eventSentence, type Which } from '../lib/happenings.ts';
import { hrefOf } from '../lib/route.ts';
import { EventRows } from '../ui/event-rows.tsx';
import { Choice, Panel } from '../ui/parts.tsx';

export function Events() {
  const which = useSignal<Which>('all');
  const fits = matcher(filter.value) ?? (() => true);
  const at = Date.parse(place.value.query['at'] ?? '');
  const isMoment = !Number.isNaN(at);
  const known = isMoment ? around(events.value, at) : events.value;
  const shown = known.filter(
    (event) =>
      belongsTo(which.value, event) && fits(`${event.subject.name} ${event.type} ${humanTimes(eventSentence(event))}`),
  );
  return (
    <>
      <div class="title line">
        <h1>Events</h1>
        <Choice
          label="Which events"
          options={['all', 'failures', 'people']}
          value={which.value}
          onPick={(value) => (which.value = value)}
        />
        {isMoment ? (
          <a class="button" href={hrefOf('events')}>
            all times
          </a>
        ) : null}
      </div>
      <Panel
        title={isMoment ? `Within a minute of ${localTime(new Date(at).toISOString())}` : 'Newest first'}
        more={<span class="dim">{`${shown.length} of the last ${events.value.length}`}</span>}
      >
        <EventRows events={shown.slice(-500).reverse()} />
      </Panel>
    </>
  );
}
