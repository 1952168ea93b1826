/** What happens in the stack, as `keepwell events --follow` tells it: the same lines that anybody's script would read. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { AppError } from '../../base/pure/errors.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import { orInterrupted } from '../interrupt.ts';
import type { Product } from './product.ts';

export class EventFeed {
  readonly #signal: AbortSignal;
  readonly #events: EventView[] = [];
  #broken: AppError | null = null;
  #wake: () => void = () => {};
  #changed = this.#nextChange();

  constructor(product: Product, signal: AbortSignal) {
    this.#signal = signal;
    const child = product.follow(['-o', 'json', 'events', '--follow', '--after', '0']);
    child.stderr!.resume();
    createInterface({ input: child.stdout! }).on('line', (line) => {
      this.#events.push(JSON.parse(line) as EventView);
      this.#tellChange();
    });
    void once(child, 'close').then(() => {
      this.#broken = new AppError('DEMO_FAILED', { problem: '"keepwell events --follow" ended by itself.' });
      this.#tellChange();
    });
  }

  /** The number of the last event so far: what comes later has a larger one. */
  get seq(): number {
    return this.#events.at(-1)?.seq ?? 0;
  }

  /** Until each of these was there, written as "web component.ready". */
  async untilAll(wanted: readonly string[]): Promise<void> {
    const missing = new Set(wanted);
    for await (const { type, subject } of this.after(0)) {
      missing.delete(`${subject.name} ${type}`);
      if (missing.size === 0) return;
    }
  }

  /** One after the other, those that were there and those that come. Somebody who gives up ends it. */
  async *after(seq: number): AsyncGenerator<EventView, never, undefined> {
    for (let at = this.#events.findIndex((event) => event.seq > seq); ; ) {
      if (at === -1) at = this.#events.findIndex((event) => event.seq > seq);
      const event = at === -1 ? undefined : this.#events[at];
      if (event === undefined) {
        if (this.#broken) throw this.#broken;
        await orInterrupted(this.#changed, this.#signal);
        continue;
      }
      at += 1;
      if (event.type === 'component.gave-up') throw gaveUp(event);
      yield event;
    }
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #tellChange(): void {
    const wake = this.#wake;
    this.#changed = this.#nextChange();
    wake();
  }
}

const gaveUp = ({ subject, data }: EventView): AppError =>
  new AppError('COMPONENT_GAVE_UP', { problem: `${subject.name}: ${String(data['decision'])}.`, name: subject.name });
