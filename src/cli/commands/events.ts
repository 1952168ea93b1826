/** keepwell events: what happened, and with -f what happens. */
import { Option } from 'commander';
import type { EventView } from '../../supervision/rules/views.ts';
import type { CliCall } from '../call.ts';
import { countOption, type Definition } from '../define.ts';
import { parseSpan } from '../logs/when.ts';
import { eventLine } from '../print/event.ts';
import type { Records } from '../records.ts';
import { readNoted, readRecords } from '../records.ts';
import { noSuch, oneName } from '../targets.ts';

interface Options {
  readonly follow?: true;
  readonly after?: number;
  readonly component?: string;
  readonly since?: string;
  readonly limit?: number;
}

export const events: Definition<Options> = {
  usage: 'events [NAME]',
  group: 'See what happened:',
  summary: 'what happened: starts, exits, decisions',
  options: [
    new Option('-f, --follow', 'keep printing new events until Ctrl-C'),
    countOption('--after <SEQ>', 'only events after this sequence number', { min: 0, max: Number.MAX_SAFE_INTEGER }),
    new Option('--since <TIME>', 'only from then on: 10m (ago), 03:04 (today) or 2026-01-02'),
    new Option('--component <NAME>', 'only of this component; the same as NAME'),
    countOption(
      '--limit <N>',
      'at most N: the newest, or the first ones with --after (default: 100, with --since 1000)',
      {
        min: 1,
        max: 1000,
      },
    ),
  ],
  examples: [
    ['keepwell events', 'the last hundred'],
    ['keepwell events api --since 10m', 'of one component, the last ten minutes'],
    ['keepwell events -f -o json', 'a stream of JSON lines'],
    ['keepwell events --after 120 --component api', 'continue where a script left off'],
  ],
  followTakesF: true,
  handler: async (call, [name], { since, ...given }) => {
    const sinceMs = since === undefined ? undefined : parseSpan(since, undefined, Date.now()).sinceMs;
    const options = { ...given, component: oneName(name, given.component) };
    const wanted = { ...options, sinceMs, limit: options.limit ?? (since === undefined ? undefined : 1000) };
    const { value } = await readNoted(call, (records) => newestEvents(records, wanted));
    if (value.events.length === 0 && options.component !== undefined) await requireComponent(call, options.component);
    for (const event of value.events) show(call, event);
    if (options.follow)
      await follow(call, value.events.at(-1)?.seq ?? options.after ?? value.lastSeq, options.component);
    return 0;
  },
};

function show(call: CliCall, event: EventView): void {
  call.printJsonLine(event);
  call.print(eventLine(event, call.paint));
}

/** No events can mean a quiet component or a mistyped one. */
async function requireComponent(call: CliCall, component: string): Promise<void> {
  const { value } = await readRecords(call, (records) => records.status());
  const names = value.components.map(({ name }) => name);
  if (!names.includes(component)) throw noSuch(component, names);
}

async function follow(call: CliCall, from: number, component: string | undefined): Promise<never> {
  const { signal, client } = call;
  const onAway = () => call.note('the daemon is not running; waiting for it');
  for await (const event of client.events({ after: from, component, signal, onAway })) show(call, event);
  throw signal.reason;
}

// The last N events, out of a history that is read forwards.

export interface EventsWanted {
  readonly after?: number | undefined;
  readonly component?: string | undefined;
  readonly limit?: number | undefined;
  /** Only from then on. */
  readonly sinceMs?: number | undefined;
}

const PAGE = 1000;

/** With `after`: the first ones behind it. Without: the newest. Oldest first either way. */
export async function newestEvents(
  records: Pick<Records, 'listEvents'>,
  { after, component, limit = 100, sinceMs }: EventsWanted,
): Promise<{ readonly events: readonly EventView[]; readonly lastSeq: number }> {
  const first = await records.listEvents({ after: after ?? 0, component, limit: after === undefined ? 1 : limit });
  const lastSeq = first.last_seq;
  const isOlder = ({ at }: EventView) => sinceMs !== undefined && Date.parse(at) < sinceMs;
  const meant = (events: readonly EventView[]) => events.filter((event) => !isOlder(event));
  if (after !== undefined) return { events: meant(first.events), lastSeq };
  // One component's events lie scattered among the others': look further and further back until there are enough.
  for (let window = limit; ; window *= 4) {
    const from = Math.max(0, lastSeq - window);
    const events = await lastOf(records, { after: from, component, limit });
    const isFar = events[0] !== undefined && isOlder(events[0]);
    if (events.length >= limit || from === 0 || isFar) return { events: meant(events), lastSeq };
  }
}

/** Page by page, keeping only the last `limit`. */
async function lastOf(
  records: Pick<Records, 'listEvents'>,
  { after, component, limit }: { after: number; component: string | undefined; limit: number },
): Promise<readonly EventView[]> {
  let kept: readonly EventView[] = [];
  for (let from = after; ; ) {
    const { events } = await records.listEvents({ after: from, component, limit: PAGE });
    kept = [...kept, ...events].slice(-limit);
    if (events.length < PAGE) return kept;
    from = events.at(-1)!.seq;
  }
}
