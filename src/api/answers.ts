/** What is answered to a question, whoever asks: a route of the API or the library in the same process. */

import { AppError } from '../base/pure/errors.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { CrashQuery } from '../history/ports.ts';
import type { IncidentsQuery } from '../incidents/rules/incident.ts';
import { type IncidentsView, incidentsView } from '../incidents/rules/view.ts';
import type { LogLineView, LogsQuery, LogsView } from '../logs/ports.ts';
import type { SampleQuery } from '../supervision/ports/store.ts';
import { stretchView } from '../supervision/rules/health/stretch.ts';
import { sampleView } from '../supervision/rules/usage/stretch.ts';
import type {
  ComponentView,
  CrashesView,
  EventsView,
  ProbesView,
  SamplesView,
  WhyView,
} from '../supervision/rules/views.ts';
import type { Control } from './control.ts';

/** Throws NO_SUCH_COMPONENT, with the nearest name there is. */
export function findComponent(control: Pick<Control, 'component' | 'status'>, name: string): ComponentView {
  const found = control.component(name);
  if (found) return found;
  const names = control.status().components.map((component) => component.name);
  const short = name.slice(0, 100);
  throw new AppError('NO_SUCH_COMPONENT', { name: short, suggestion: didYouMean(short, names) });
}

export function crashes(control: Control, query: CrashQuery): CrashesView {
  const { component } = query;
  const found = control.history.crashes(query);
  // A component that is gone from the configuration keeps its history, so only a name nobody knows at all is an error.
  if (component !== undefined && found.length === 0 && control.history.why({ component }) === null) {
    findComponent(control, component);
  }
  return { schema_version: 1, crashes: found };
}

export function crash(control: Control, id: number): WhyView {
  const found = Number.isSafeInteger(id) ? control.history.why({ id }) : null;
  if (found === null) throw new AppError('NO_SUCH_CRASH', { id });
  return found;
}

export const incidents = (control: Control, query: IncidentsQuery): IncidentsView =>
  incidentsView(control.incidents.incidents(query));

/** The newest crash of a component; of a name that no component has, of whatever is called so. */
export function why(control: Control, component: string): WhyView {
  const found = control.history.why({ component }) ?? control.history.why({ subject: component });
  if (found) return found;
  const { name } = findComponent(control, component);
  throw new AppError('NOTHING_RECORDED', { name });
}

/** Also of a component that is gone from the configuration: what it answered stays on record. */
export function probes(control: Control, component: string, limit: number): ProbesView {
  const found = control.history.probes({ component, limit });
  if (found.length === 0) findComponent(control, component);
  return { schema_version: 1, probes: found.map(stretchView) };
}

/** Also of a component that is gone from the configuration. */
export function samples(control: Control, query: SampleQuery): SamplesView {
  const found = control.samples(query);
  if (found.length === 0) requireKnown(control, query.component);
  return { schema_version: 1, samples: found.map(sampleView) };
}

/** Nothing since a certain time is an answer about a component that is, or was, there. */
function requireKnown(control: Control, component: string): void {
  if (control.samples({ component, limit: 1 }).length === 0) findComponent(control, component);
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
  for (const name of components) if (!logged.includes(name)) findComponent(control, name);
}

/** Lines that are answered at once, together; of more than this the newest. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** The last lines, component by component. */
export async function logs(control: Control, query: LogsQuery): Promise<LogsView> {
  requireLogged(control, query.components);
  await using cursor = control.logs.open(query);
  const newest = new NewestLines(MAX_ANSWER_BYTES);
  for (let more = true; more; ) {
    const batch = await cursor.read();
    newest.add(batch.lines);
    more = batch.more;
  }
  // The last line of each comes in `rest` when it has no line break yet: it belongs behind the others of its component.
  newest.add(await cursor.rest());
  return { schema_version: 1, lines: newest.lines.toSorted((a, b) => compare(a.component, b.component)) };
}

/** Keeps what comes last within its bounds. */
class NewestLines {
  readonly #maxBytes: number;
  #bytes = 0;
  lines: LogLineView[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(lines: readonly LogLineView[]): void {
    for (const line of lines) {
      this.lines.push(line);
      this.#bytes += line.line.length;
    }
    let gone = 0;
    while (this.#bytes > this.#maxBytes && gone < this.lines.length - 1) this.#bytes -= this.lines[gone++]!.line.length;
    if (gone > 0) this.lines = this.lines.slice(gone);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
