/** What is answered to a question, whoever asks: a route of the API or the library in the same process. */
import { AppError } from '../core/errors.ts';
import { stretchView } from '../core/health/stretch.ts';
import { didYouMean } from '../core/suggest.ts';
import type { ComponentView, CrashesView, EventsView, ProbesView, StatusView, WhyView } from '../core/views.ts';
import type { Control } from '../ports/control.ts';
import type { LogsQuery, LogsView } from '../ports/logs.ts';
import type { CrashQuery } from '../ports/store.ts';

/** Throws NO_SUCH_COMPONENT, with the nearest name there is. */
export function findComponent({ components }: StatusView, name: string): ComponentView {
  const found = components.find((component) => component.name === name);
  if (found) return found;
  const names = components.map((component) => component.name);
  const short = name.slice(0, 100);
  throw new AppError('NO_SUCH_COMPONENT', { name: short, suggestion: didYouMean(short, names) });
}

export function crashes(control: Control, query: CrashQuery): CrashesView {
  const { component } = query;
  const found = control.history.crashes(query);
  // A component that is gone from the configuration keeps its history, so only a name nobody knows at all is an error.
  if (component !== undefined && found.length === 0 && control.history.why({ component }) === null) {
    findComponent(control.status(), component);
  }
  return { schema_version: 1, crashes: found };
}

export function crash(control: Control, id: number): WhyView {
  const found = Number.isSafeInteger(id) ? control.history.why({ id }) : null;
  if (found === null) throw new AppError('NO_SUCH_CRASH', { id });
  return found;
}

/** The newest crash of a component. */
export function why(control: Control, component: string): WhyView {
  const found = control.history.why({ component });
  if (found) return found;
  const { name } = findComponent(control.status(), component);
  throw new AppError('NOTHING_RECORDED', { name });
}

/** Also of a component that is gone from the configuration: what it answered stays on record. */
export function probes(control: Control, component: string, limit: number): ProbesView {
  const found = control.history.probes({ component, limit });
  if (found.length === 0) findComponent(control.status(), component);
  return { schema_version: 1, probes: found.map(stretchView) };
}

export function events(
  { history }: Control,
  { after = 0, component, limit }: { after?: number | undefined; component?: string | undefined; limit: number },
): EventsView {
  const filter = component === undefined ? {} : { component };
  const found = history.events({ afterSeq: after, limit, ...filter });
  return { schema_version: 1, last_seq: history.lastSeq(), events: found };
}

/** A component that has written nothing yet is known to the daemon, one that is gone from the configuration still has its log. */
export function requireLogged(control: Control, components: readonly string[]): void {
  const logged = components.length === 0 ? [] : control.logs.names();
  for (const name of components) if (!logged.includes(name)) findComponent(control.status(), name);
}

/** The last lines, component by component. */
export function logs(control: Control, query: LogsQuery): LogsView {
  requireLogged(control, query.components);
  const cursor = control.logs.open(query);
  try {
    // The last line of each comes in `rest` when it has no line break yet: it belongs behind the others of its component.
    const lines = [...cursor.read(), ...cursor.rest()];
    return { schema_version: 1, lines: lines.toSorted((a, b) => compare(a.component, b.component)) };
  } finally {
    cursor[Symbol.dispose]();
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
