/** Events as rows, newest first: when, who, what. */
import type { EventView } from '../../src/supervision/rules/views.ts';
import { now } from '../io/live.ts';
import { humanTimes, localTime, shortTime } from '../lib/format.ts';
import { eventSentence, kindOf } from '../lib/happenings.ts';
import { hrefOf } from '../lib/route.ts';
import { Empty, Mark } from './parts.tsx';

export function EventRows({ events }: { events: readonly EventView[] }) {
  if (events.length === 0) return <Empty>Nothing yet.</Empty>;
  return (
    <ol class="events">
      {events.map((event) => (
        <EventRow key={event.seq} event={event} />
      ))}
    </ol>
  );
}

function EventRow({ event }: { event: EventView }) {
  const { subject, at } = event;
  const kind = kindOf(event);
  return (
    <li class={kind} data-seq={event.seq}>
      <time dateTime={at} title={localTime(at)} class="num dim">
        {shortTime(at, now.peek())}
      </time>
      {kind === 'failure' ? (
        <Mark tone="bad" shape="cross" />
      ) : kind === 'good' ? (
        <Mark tone="ok" shape="check" />
      ) : (
        <span class="mark" />
      )}
      {subject.kind === 'component' ? (
        <a class="name" href={hrefOf('component', subject.name)}>
          {subject.name}
        </a>
      ) : (
        <span class="name">{subject.kind === 'daemon' ? 'daemon' : subject.name}</span>
      )}
      <span>{humanTimes(eventSentence(event))}</span>
    </li>
  );
}
