/** Shows how things move along, on stderr: a table that redraws itself on a terminal, a line per change elsewhere. */
import type { ComponentView } from '../supervision/rules/views.ts';
import type { CliCall } from './call.ts';
import { noteOf, statusTable } from './print/status.ts';

export interface Progress {
  update(views: readonly ComponentView[]): void;
  /** Leaves the last picture as it is. */
  end(): void;
}

/** `before`: how things were, so that only what changes is told. */
export const progressFor = (call: CliCall, before: readonly ComponentView[]): Progress =>
  call.world.err.isTty ? new LiveTable(call) : new ChangeLines(call, before);

class LiveTable implements Progress {
  readonly #call: CliCall;
  #drawn = 0;

  constructor(call: CliCall) {
    this.#call = call;
  }

  update(views: readonly ComponentView[]): void {
    const { world, errPaint } = this.#call;
    const { columns = 80, rows = 24 } = world.err;
    const lines = statusTable(views, errPaint, columns);
    const room = Math.max(2, rows - 1);
    const shown = lines.length <= room ? lines : [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more`];
    const up = this.#drawn > 0 ? `\u001b[${this.#drawn}A` : '';
    world.err.write(`${up}${shown.map((line) => `\r${line}\u001b[K\n`).join('')}\u001b[J`);
    this.#drawn = shown.length;
  }

  end(): void {
    this.#drawn = 0;
  }
}

class ChangeLines implements Progress {
  readonly #call: CliCall;
  readonly #seen = new Map<string, string>();

  constructor(call: CliCall, before: readonly ComponentView[]) {
    this.#call = call;
    for (const view of before) this.#seen.set(view.name, keyOf(view));
  }

  update(views: readonly ComponentView[]): void {
    for (const view of views) {
      const key = keyOf(view);
      if (this.#seen.get(view.name) === key) continue;
      this.#seen.set(view.name, key);
      this.#call.note(`${view.name}: ${changeText(view)}`);
    }
  }

  end(): void {}
}

/** Notes count down by the second, so they are no change; why a probe could not be asked is one. */
const keyOf = ({ state, ready, pid, condition, probes }: ComponentView): string =>
  JSON.stringify([
    state,
    ready,
    pid,
    condition,
    probes.map(({ last }) => last?.outcome === 'inconclusive' && last.message),
  ]);

function changeText(view: ComponentView): string {
  const ready = view.ready ? ', ready' : '';
  const pid = view.pid === null ? '' : `, pid ${view.pid}`;
  const note = view.state === 'stopped' ? '' : noteOf(view);
  if (note !== '' && (view.state === 'waiting' || view.state === 'gave-up')) return note; // it says the state as well
  return `${view.state}${ready}${pid}${note === '' ? '' : ` (${note})`}`;
}
