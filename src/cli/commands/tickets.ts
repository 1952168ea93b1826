/** keepwell tickets: what people should look at, one for each cause. */
import { Option } from 'commander';
import { AppError } from '../../base/pure/errors.ts';
import { didYouMean } from '../../base/pure/suggest.ts';
import { bugNumber, ticketNumber } from '../../incidents/tickets/rules/number.ts';
import type { TicketView } from '../../incidents/tickets/rules/view.ts';
import { awaitDaemon } from '../await-daemon.ts';
import type { Definition } from '../define.ts';
import { ticketBlock, ticketTable } from '../print/tickets.ts';
import { readRecords } from '../records/read.ts';
import { type Session, usage } from '../call.ts';
import { matches } from '../targets.ts';

interface Options {
  readonly all?: true;
  readonly closed?: true;
}

type Act = (session: Session, words: readonly string[], options: Options) => Promise<void>;

const ACTIONS: Readonly<Record<string, Act>> = {
  list,
  show,
  close: (session, words) => change(session, words, 'close'),
  reopen: (session, words) => change(session, words, 'reopen'),
};
const NAMES = Object.keys(ACTIONS);
const MAX_SHOWN = 50;
const MAX_LISTED = 1_000;

export const tickets: Definition<Options> = {
  usage: 'tickets [ACTION] [NUMBER...]',
  group: 'Look:',
  summary: 'problems to fix, one for each cause: list, show, close, reopen',
  actions: [
    ['list', 'open tickets (the default)'],
    ['show NUMBER', 'everything about one ticket: cause, steps to reproduce, files, log, and its state in trackers'],
    ['close NUMBER...', 'mark as fixed; the next crash with the same cause reopens the ticket'],
    ['reopen NUMBER...', 'mark as not fixed'],
  ],
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
  handler: async (session, [word = 'list', ...words], options) => {
    const act = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
    if (!act) {
      const shown = word.slice(0, MAX_SHOWN);
      const isNumber = /^(?:bug-?|#)?\d+$/i.test(shown);
      const meant = isNumber ? ` Write: keepwell tickets show ${shown}` : didYouMean(shown, NAMES);
      throw usage(`There is no "tickets ${shown}", only ${NAMES.join(', ')}.${meant}`);
    }
    const strange = (['all', 'closed'] as const).find((name) => options[name] !== undefined && word !== 'list');
    if (strange !== undefined) throw usage(`"tickets ${word}" has no option --${strange}.`);
    await act(session, words, options);
    return 0;
  },
};

async function list(session: Session, words: readonly string[], { all, closed }: Options): Promise<void> {
  if (words.length > 0) throw usage('"tickets list" takes no numbers; "tickets show NUMBER" shows one.');
  const state = all ? 'all' : closed ? 'closed' : 'open';
  const { value, offline } = await readRecords(session, (records) => records.tickets({ state }));
  if (offline !== null) session.note(`${offline}; this is what the records say`);
  session.printJson(value);
  const { out } = session.world;
  if (value.tickets.length === 0) session.print(state === 'open' ? 'no open tickets' : 'no tickets');
  else
    for (const line of ticketTable(value.tickets, session.paint, Date.now(), out.isTty ? out.columns : undefined))
      session.print(line);
}

async function show(session: Session, words: readonly string[]): Promise<void> {
  const [number, ...more] = words;
  if (number === undefined || more.length > 0) throw usage('Write: keepwell tickets show NUMBER');
  ticketNumber(number); // what is no number is not asked for
  const { value, offline } = await readRecords(session, (records) => records.ticket(number));
  if (offline !== null) session.note(`${offline}; this is what the records say`);
  session.printJson(value);
  for (const line of ticketBlock(value.ticket, session.paint, Date.now())) session.print(line);
}

async function change(session: Session, words: readonly string[], what: 'close' | 'reopen'): Promise<void> {
  if (words.length === 0) throw usage(`"tickets ${what}" needs at least one NUMBER; "keepwell tickets" shows them.`);
  await awaitDaemon(session);
  const { client } = session;
  // All are found before any is changed: a mistyped one must not leave the work half done.
  const wanted = what === 'close' ? 'closed' : 'open';
  const all = await meant(session, words, what === 'close' ? 'open' : 'closed');
  const changed: TicketView[] = [];
  for (const { number, state } of all) {
    const { ticket } = await (what === 'close' ? client.closeTicket(number) : client.reopenTicket(number));
    changed.push(ticket);
    const done = what === 'close' ? 'closed' : 'reopened';
    session.print(state === wanted ? `${number} is ${wanted} already` : `${done} ${number}`);
  }
  session.printJson({ schema_version: 1, tickets: changed });
}

async function meant(
  session: Session,
  words: readonly string[],
  state: 'open' | 'closed',
): Promise<readonly TicketView[]> {
  const tickets = new Map<string, TicketView>();
  for (const word of words) {
    if (!/[*?]/.test(word)) {
      const { ticket } = await session.client.ticket(bugNumber(ticketNumber(word)));
      tickets.set(ticket.number, ticket);
      continue;
    }
    const all = (await session.client.tickets({ state, limit: MAX_LISTED })).tickets;
    const found = all.filter(({ number }) => matches(word.toUpperCase(), number));
    if (found.length === 0) throw new AppError('NO_SUCH_TICKET', { ticket: word.slice(0, MAX_SHOWN) });
    for (const ticket of found) tickets.set(ticket.number, ticket);
  }
  return [...tickets.values()];
}
