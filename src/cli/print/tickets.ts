/** Tickets for people. */
import { ofText } from '../../incidents/tickets/rules/text.ts';
import type { DeliveryView, TicketView } from '../../incidents/tickets/rules/view.ts';
import type { Brush, Paint } from './colour.ts';
import { sanitise, sanitiseText } from './sanitise.ts';
import { table } from './table.ts';
import { localTime, relative } from './time.ts';

const HEADER = ['NUMBER', 'STATE', 'PRIORITY', 'COUNT', 'LAST SEEN', 'TITLE'] as const;

const oneLine = (text: string): string => sanitise(text.replaceAll('\n', ' '));

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
      'How to see it',
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
