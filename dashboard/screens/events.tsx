/** Everything that happened, newest first. */
import { useSignal } from '@preact/signals';
import { events, filter } from '../io/live.ts';
import { matcher } from '../lib/filter.ts';
import { belongsTo, eventSentence, type Which } from '../lib/happenings.ts';
import { EventRows } from '../ui/event-rows.tsx';
import { Choice, Panel } from '../ui/parts.tsx';

export function Events() {
  const which = useSignal<Which>('all');
  const fits = matcher(filter.value) ?? (() => true);
  const shown = events.value.filter(
    (event) => belongsTo(which.value, event) && fits(`${event.subject.name} ${event.type} ${eventSentence(event)}`),
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
      </div>
      <Panel
        title="Newest first"
        more={<span class="dim">{`${shown.length} of the last ${events.value.length}`}</span>}
      >
        <EventRows events={shown.slice(-500).reverse()} />
      </Panel>
    </>
  );
}
