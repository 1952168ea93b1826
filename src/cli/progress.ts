/** Shows how things move along, on stderr: a table that redraws itself on a terminal, a line per change elsewhere. */
import type { ComponentView } from '../supervision/rules/views.ts';
import type { Session } from './call.ts';
import { noteOf, statusTable } from './print/status.ts';

export interface Progress {
  update(views: readonly ComponentView[]): void;
  /** Leaves the last picture as it is. */
  end(): void;
}

/** `before`: how things were, so that only what changes is told. */
export const progressFor = (session: Session, before: readonly ComponentView[]): Progress =>
  session.world.err.isTty ? new LiveTable(session) : new ChangeLines(session, before);

class LiveTable implements Progress {
  readonly #session: Session;
  #drawn = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  update(views: readonly ComponentView[]): void {
    const { world, errPaint } = this.#session;
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
  readonly #session: Session;
  readonly #seen = new Map<string, string>();

  constructor(session: Session, before: readonly ComponentView[]) {
    this.#session = session;
    for (const view of before) this.#seen.set(view.name, keyOf(view));
  }

  update(views: readonly ComponentView[]): void {
    for (const view of views) {
      const key = keyOf(view);
      if (this.#seen.get(view.name) === key) continue;
      this.#seen.set(view.name, key);
      this.#session.note(`${view.name}: ${changeText(view)}`);
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
