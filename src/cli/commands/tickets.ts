/** keepwell tickets: what people should look at, one for each cause. */
import { Option } from 'commander';
import { AppError } from '../../base/pure/errors.ts';
import { didYouMean } from '../../base/pure/suggest.ts';
import { bugNumber, ticketNumber } from '../../incidents/tickets/rules/number.ts';
import { ofText } from '../../incidents/tickets/rules/text.ts';
import type { DeliveryView, TicketView } from '../../incidents/tickets/rules/view.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { type CliCall, usage } from '../call.ts';
import { byAction, type Definition } from '../define.ts';
import type { Brush, Paint } from '../print/colour.ts';
import { localTime, relative } from '../print/json.ts';
import { oneLine, sanitiseText } from '../print/sanitise.ts';
import { table } from '../print/table.ts';
import { readNoted } from '../records.ts';
import { matches } from '../targets.ts';

interface Options {
  readonly all?: true;
  readonly closed?: true;
}

const MAX_SHOWN = 50;
const MAX_LISTED = 1_000;

export const tickets: Definition<Options> = {
  usage: 'tickets [ACTION] [NUMBER...]',
  group: 'See what happened:',
  summary: 'problems to fix, one for each cause: list, show, close, reopen',
  ...byAction<Options>(
    'tickets',
    {
      list: { what: 'open tickets (the default)', takes: ['all', 'closed'], act: list },
      show: {
        words: 'NUMBER',
        what: 'everything about one ticket: cause, steps to reproduce, files, log, and its state in trackers',
        act: show,
      },
      close: {
        words: 'NUMBER...',
        what: 'mark as fixed; the next crash with the same cause reopens the ticket',
        act: (call, words) => change(call, words, 'close'),
      },
      reopen: {
        words: 'NUMBER...',
        what: 'mark as not fixed',
        act: (call, words) => change(call, words, 'reopen'),
      },
    },
    (word, names) =>
      /^(?:bug-?|#)?\d+$/i.test(word) ? ` Write: keepwell tickets show ${word}` : didYouMean(word, names),
  ),
  description: 'A NUMBER is BUG-003, bug-3 or 3; close and reopen also take patterns such as "BUG-00*".',
  options: [
    new Option('-a, --all', 'list: also closed ones'),
    new Option('--closed', 'list: only closed ones').conflicts('all'),
  ],
  examples: [
    ['keepwell tickets', 'what needs to be fixed?'],
    ['keepwell tickets show BUG-003', 'everything about one'],
    ['keepwell tickets close 3 4', 'both are fixed'],
    ['keepwell tickets -o json | jq -r ".tickets[].root_cause"', 'the causes, for a script'],
  ],
};

async function list(call: CliCall, words: readonly string[], { all, closed }: Options): Promise<number> {
  if (words.length > 0) throw usage('"tickets list" takes no numbers; "tickets show NUMBER" shows one.');
  const state = all ? 'all' : closed ? 'closed' : 'open';
  const { value } = await readNoted(call, (records) => records.tickets({ state }));
  call.printJson(value);
  if (value.tickets.length === 0) call.print(state === 'open' ? 'no open tickets' : 'no tickets');
  else call.print(...ticketTable(value.tickets, call.paint, Date.now(), call.columns));
  return 0;
}

async function show(call: CliCall, words: readonly string[]): Promise<number> {
  const [number, ...more] = words;
  if (number === undefined || more.length > 0) throw usage('Write: keepwell tickets show NUMBER');
  ticketNumber(number); // what is no number is not asked for
  const { value } = await readNoted(call, (records) => records.ticket(number));
  call.printJson(value);
  call.print(...ticketBlock(value.ticket, call.paint, Date.now()));
  return 0;
}

async function change(call: CliCall, words: readonly string[], what: 'close' | 'reopen'): Promise<number> {
  if (words.length === 0) throw usage(`"tickets ${what}" needs at least one NUMBER; "keepwell tickets" shows them.`);
  await awaitDaemon(call);
  const { client } = call;
  // All are found before any is changed: a mistyped one must not leave the work half done.
  const wanted = what === 'close' ? 'closed' : 'open';
  const all = await meant(call, words, what === 'close' ? 'open' : 'closed');
  const changed: TicketView[] = [];
  for (const { number, state } of all) {
    const { ticket } = await (what === 'close' ? client.closeTicket(number) : client.reopenTicket(number));
    changed.push(ticket);
    const done = what === 'close' ? 'closed' : 'reopened';
    call.print(state === wanted ? `${number} is ${wanted} already` : `${done} ${number}`);
  }
  call.printJson({ schema_version: 1, tickets: changed });
  return 0;
}

async function meant(
  call: CliCall,
  words: readonly string[],
  state: 'open' | 'closed',
): Promise<readonly TicketView[]> {
  const tickets = new Map<string, TicketView>();
  for (const word of words) {
    if (!/[*?]/.test(word)) {
      const { ticket } = await call.client.ticket(bugNumber(ticketNumber(word)));
      tickets.set(ticket.number, ticket);
      continue;
    }
    const all = (await call.client.tickets({ state, limit: MAX_LISTED })).tickets;
    const found = all.filter(({ number }) => matches(word.toUpperCase(), number));
    if (found.length === 0) throw new AppError('NO_SUCH_TICKET', { ticket: word.slice(0, MAX_SHOWN) });
    for (const ticket of found) tickets.set(ticket.number, ticket);
  }
  return [...tickets.values()];
}

// Tickets for people.

const HEADER = ['NUMBER', 'STATE', 'PRIORITY', 'COUNT', 'LAST SEEN', 'TITLE'] as const;

function brushOf(paint: Paint, { state, priority }: TicketView): Brush {
  if (state === 'closed') return paint.dim;
  return priority === 'critical' || priority === 'high' ? paint.red : paint.yellow;
}

export const ticketTable = (tickets: readonly TicketView[], paint: Paint, nowMs: number, columns?: number): string[] =>
  table(
    HEADER,
    tickets.map((ticket) => [
      { text: ticket.number, brush: paint.bold },
      { text: ticket.state },
      { text: ticket.priority, brush: brushOf(paint, ticket) },
      { text: String(ticket.count) },
      { text: relative(ticket.last_seen, nowMs) },
      { text: oneLine(ticket.title) },
    ]),
    columns,
  );

export function ticketBlock(ticket: TicketView, paint: Paint, nowMs: number): string[] {
  const when = (iso: string): string => `${localTime(iso)} (${relative(iso, nowMs)})`;
  const rows: (readonly [label: string, text: string | null])[] = [
    ['State', ticket.closed_at === null ? ticket.state : `${ticket.state} ${when(ticket.closed_at)}`],
    ['Priority', brushOf(paint, ticket)(ticket.priority)],
    ['Category', ticket.category],
    ['Of', `${ofText(ticket)} ${oneLine(ticket.subject.name)}`],
    ['Also of', namesOf(ticket.subjects.slice(1).map(({ name }) => name))],
    [ticket.tasks.length > 1 ? 'Tasks' : 'Task', namesOf(ticket.tasks)],
    ['Affected', namesOf(ticket.affected)],
    ['For', ticket.assigned_to && oneLine(ticket.assigned_to)],
    ['Count', String(ticket.count)],
    ['First', when(ticket.first_seen)],
    ['Last', when(ticket.last_seen)],
    ['Cause', ticket.root_cause && oneLine(ticket.root_cause)],
    ['Incident', String(ticket.incident)],
    ...Object.entries(ticket.deliveries).map(
      ([name, delivery]) => [name, trackerText(ticket, name, delivery, nowMs)] as const,
    ),
  ];
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  return [
    `${paint.bold(ticket.number)} ${oneLine(ticket.title)}`,
    ...rows.flatMap(([label, text]) => (text === null ? [] : [`  ${`${label}:`.padEnd(width)}${text}`])),
    ...section('What happened', ticket.description.split('\n')),
    ...section(
      'How to reproduce it',
      ticket.reproduction_steps.map((step, at) => `${at + 1}. ${step}`),
    ),
    ...section('Files', ticket.related_files),
    ...section('Error log', ticket.error_logs === '' ? [] : ticket.error_logs.split('\n')),
  ];
}

const namesOf = (names: readonly string[]): string | null => (names.length === 0 ? null : oneLine(names.join(', ')));

function trackerText({ trackers }: TicketView, name: string, delivery: DeliveryView, nowMs: number): string {
  const where = Object.hasOwn(trackers, name) ? oneLine(trackers[name]!) : null;
  if (delivery.state === 'delivered') return where ?? 'delivered';
  const next = delivery.next_attempt_at === null ? '' : `, next try ${relative(delivery.next_attempt_at, nowMs)}`;
  const what = delivery.state === 'stopped' ? 'not delivered, no further tries' : `not delivered yet${next}`;
  const why = delivery.error === null ? '' : `: ${oneLine(delivery.error)}`;
  return `${where === null ? '' : `${where} - `}${what}${why}`;
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `  ${title}:`, ...lines.map((line) => `    ${sanitiseText(line)}`)];
