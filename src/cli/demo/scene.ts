/** What every act of the demo works with, and the one way in which it waits. */
import { AppError } from '../../base/pure/errors.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import { eventSentence } from '../print/event.ts';
import type { EventFeed } from './event-feed.ts';
import type { Narrator } from './narrator.ts';
import type { Place, Ports } from './place.ts';
import type { Product } from './product.ts';

export interface Scene {
  readonly place: Place;
  readonly ports: Ports;
  readonly product: Product;
  readonly feed: EventFeed;
  readonly narrator: Narrator;
  /** Aborted when the demo has to end. */
  readonly signal: AbortSignal;
}

/** One row of the summary. */
export interface SceneOutcome {
  readonly broken: string;
  readonly done: string;
  readonly tookMs: number;
}

export interface Watch {
  /** For people: "mailer to be ready again". */
  readonly what: string;
  /** Events up to this number are old. */
  readonly after: number;
  readonly component: string;
  /** When the step began, in wall-clock time: the events' own. */
  readonly sinceMs: number;
  readonly isLast: (event: EventView) => boolean;
}

/** The rest says the same once more. */
const SHOWN = /\.(exited|started|ready|stopping|killed|stopped)$/;

/** Shows what happens to a component until the last thing that is waited for. Gives everything that happened to it. */
export async function watch(scene: Scene, { what, after, component, sinceMs, isLast }: Watch): Promise<EventView[]> {
  const seen: EventView[] = [];
  await scene.narrator.during(what, async () => {
    for await (const event of scene.feed.after(after)) {
      if (event.subject.name !== component) continue;
      seen.push(event);
      if (SHOWN.test(event.type)) scene.narrator.event(timeOf(event) - sinceMs, `${component}: ${sentenceOf(event)}`);
      if (isLast(event)) return;
    }
  });
  return seen;
}

const sentenceOf = (event: EventView): string => (event.type === 'component.ready' ? 'ready' : eventSentence(event));

export const timeOf = ({ at }: EventView): number => Date.parse(at);

/** An event that must have been among those seen. */
export function one(events: readonly EventView[], type: string): EventView {
  const found = events.find((event) => event.type === type);
  if (!found) throw new AppError('DEMO_FAILED', { problem: `there was no event ${type}.` });
  return found;
}
