/** What is said about a ticket after it was filed, and the other changes it can go through. */
import { describeExit } from '../../../base/pure/exit.ts';
import { formatDuration } from '../../../base/pure/format.ts';
import type { WallMs } from '../../../base/pure/ids.ts';
import { isSimulated } from '../../../supervision/rules/simulation.ts';
import type { Subject } from '../../../supervision/rules/views.ts';
import { type Incident, subjectKey } from '../../rules/incident.ts';
import type { CrashEvidence, Evidence } from './evidence.ts';
import { bugNumber } from './number.ts';
import { withPendingUpdate } from './pending-updates.ts';
import type { RateLimit, TicketSettings } from './settings.ts';
import { cleanLine, headline, textOfEnd } from './text.ts';
import type { Ticket, TicketChange, TicketEvent, Told } from './ticket.ts';

const MAX_NOTE_CHARS = 1_500;

export const openedEvent = ({ number, title, priority, count, incident }: Ticket): TicketEvent => ({
  type: 'ticket.opened',
  data: { ticket: bugNumber(number), title, priority, count, incident },
});

/** "It happened again: 7 times so far, the last time …" */
export function againText(evidence: Evidence, before: Ticket, after: Ticket, secrets: readonly string[] = []): string {
  const raised = after.priority === before.priority ? '' : ` The priority is ${after.priority} now.`;
  const reopened = before.state === 'closed' ? 'Reopened. ' : '';
  const text = `${reopened}It happened again: ${after.count} times so far, last ${iso(after.lastSeen)}.${raised} ${last(evidence)}`;
  return cleanLine(text, MAX_NOTE_CHARS, secrets);
}

function last(evidence: Evidence): string {
  if (evidence.kind === 'problem') return evidence.problem.rootCause;
  const { crash } = evidence;
  return `${headline(crash)} (${describeExit(crash.exit)}; ran for ${formatDuration(crash.uptimeMs)})`;
}

/** All is well again. Said once for each time that trouble was told, so that flapping does not fill a tracker. */
export function afterRecovery(ticket: Ticket, settings: TicketSettings, now: WallMs): TicketChange | null {
  if (ticket.state === 'closed' || ticket.told.at(-1)?.what === 'recovery') return null;
  // The task of a rehearsal does not exist: nobody is well, it is just over.
  const isOver = isSimulated(ticket.rootCause) && ticket.tasks.length > 0;
  const text = `${isOver ? 'The simulated crash is over' : 'Recovered'}, as seen ${iso(now)}; it had happened ${ticket.count === 1 ? 'once' : `${ticket.count} times`}. The ticket stays open until somebody closes it.`;
  const said: Ticket = { ...ticket, news: [], told: withTold(ticket.told, now, 'recovery') };
  const also = ticket.news.length === 0 ? {} : { also: ticket.news };
  return {
    ticket: withPendingUpdate(said, settings.trackers, { deed: 'recovered', text, ...also }, now),
    told: [
      { type: 'ticket.commented', data: { ticket: bugNumber(ticket.number), count: ticket.count, text, ...also } },
    ],
  };
}

/** Somebody is affected that was not. Null: nobody is. */
export function joined(
  ticket: Ticket,
  { affected }: Pick<Incident, 'affected'>,
  settings: TicketSettings,
  now: WallMs,
): TicketChange | null {
  const named = withMembers(ticket, { subjects: [], tasks: [], affected });
  if (named === ticket) return null;
  return { ticket: withPendingUpdate(named, settings.trackers, { deed: 'update', text: '' }, now), told: [] };
}

/** Who joined since trackers were told last, once they may be told. Null: nobody did, or not yet. */
export function afterNews(ticket: Ticket, settings: TicketSettings, now: WallMs): TicketChange | null {
  const { news: also } = ticket;
  if (also.length === 0 || ticket.state === 'closed' || !mayTellNews(settings.rateLimit, ticket, now)) return null;
  const text = `It happened ${ticket.count} times so far, last ${iso(ticket.lastSeen)}.`;
  const said: Ticket = { ...ticket, news: [], told: withTold(ticket.told, now, 'news') };
  return {
    ticket: withPendingUpdate(said, settings.trackers, { deed: 'comment', text, also }, now),
    told: [{ type: 'ticket.commented', data: { ticket: bugNumber(ticket.number), count: ticket.count, text, also } }],
  };
}

/**
 * A frozen process was looked at when it was ended, after its ticket was filed: what it was doing is what a developer needs. Null:
 * the ticket has it, or nothing was found.
 */
export function afterExamination(
  ticket: Ticket,
  crash: CrashEvidence,
  settings: TicketSettings,
  { now, known }: { readonly now: WallMs; readonly known: readonly string[] },
): TicketChange | null {
  const { freeze, stack = [], relatedFiles = [] } = crash;
  if (ticket.category !== 'freeze' || ticket.state === 'closed' || ticket.examined || freeze === undefined) return null;
  if (freeze.evidence.length + stack.length === 0) return null;
  const { errorLogs, relatedFiles: files } = textOfEnd(
    { ...crash, relatedFiles: [...ticket.relatedFiles, ...relatedFiles] },
    known,
  );
  const examined: Ticket = {
    ...ticket,
    examined: true,
    errorLogs: [ticket.errorLogs, errorLogs].filter((part) => part !== '').join('\n\n'),
    relatedFiles: [...new Set(files)],
  };
  const text = 'The frozen process was ended; this is what it was doing.';
  return {
    ticket: withPendingUpdate(examined, settings.trackers, { deed: 'comment', text, details: errorLogs }, now),
    told: [{ type: 'ticket.commented', data: { ticket: bugNumber(ticket.number), count: ticket.count, text } }],
  };
}

/** Null: it is closed already. */
export function closed(ticket: Ticket, settings: TicketSettings, now: WallMs): TicketChange | null {
  if (ticket.state === 'closed') return null;
  const shut: Ticket = { ...ticket, state: 'closed', closedAt: now };
  return {
    ticket: withPendingUpdate(
      shut,
      settings.trackers,
      { deed: 'close', text: `Closed with Keepwell, ${iso(now)}.` },
      now,
    ),
    told: [{ type: 'ticket.closed', data: { ticket: bugNumber(ticket.number), count: ticket.count } }],
  };
}

/** Null: it is open already. */
export function reopenedByHand(ticket: Ticket, settings: TicketSettings, now: WallMs): TicketChange | null {
  if (ticket.state === 'open') return null;
  const open: Ticket = { ...ticket, state: 'open', closedAt: null };
  return {
    ticket: withPendingUpdate(
      open,
      settings.trackers,
      { deed: 'reopen', text: `Reopened with Keepwell, ${iso(now)}.`, byHand: true },
      now,
    ),
    told: [
      { type: 'ticket.reopened', data: { ticket: bugNumber(ticket.number), count: ticket.count, reason: 'by hand' } },
    ],
  };
}

const iso = (wallMs: number): string => new Date(wallMs).toISOString();

// Who a ticket is about: everybody that crashed with its cause is named, and whoever joins later is news. Pure.

/** Names and tasks may be anything that somebody once typed. */
export const MAX_NAME_CHARS = 200;
const MAX_NEWS = 500;

export type Members = Pick<Ticket, 'subjects' | 'tasks' | 'affected'>;

/** `known`: values that must never appear. */
export function membersOf({ subjects, tasks, affected }: Incident, known: readonly string[] = []): Members {
  const clean = (name: string) => cleanLine(name, MAX_NAME_CHARS, known);
  return {
    subjects: subjects.map(({ kind, name }) => ({ kind, name: clean(name) })),
    tasks: tasks.map(clean),
    affected: affected.map(clean),
  };
}

/** The ticket with everybody of the incident in it; whoever was not there is news. The same ticket: all were. */
export function withMembers(ticket: Ticket, members: Members): Ticket {
  const keys = new Set(ticket.subjects.map(subjectKey));
  const subjects = members.subjects.filter((subject) => !keys.has(subjectKey(subject)));
  const tasks = members.tasks.filter((task) => !ticket.tasks.includes(task));
  const affected = members.affected.filter((name) => !ticket.affected.includes(name));
  if (subjects.length + tasks.length + affected.length === 0) return ticket;
  // An agent type is known by its tasks.
  const named = subjects.filter(({ kind }) => kind !== 'agent' || tasks.length === 0).map(({ name }) => name);
  const news = [...named, ...tasks.map(taskName), ...affected.map((name) => `${name} (affected)`)];
  return {
    ...ticket,
    subjects: [...ticket.subjects, ...subjects],
    tasks: [...ticket.tasks, ...tasks],
    affected: [...ticket.affected, ...affected],
    news: [...ticket.news, ...news].slice(0, MAX_NEWS),
  };
}

const taskName = (task: string): string => `task ${task}`;

/** Nobody tries any more by itself to bring this one back: that is news, too, also of one that is named already. */
export function withGivenUp(
  ticket: Ticket,
  subject: Subject,
  taskId: string | null,
  known: readonly string[] = [],
): Ticket {
  const clean = (name: string) => cleanLine(name, MAX_NAME_CHARS, known);
  const name = taskId === null ? clean(subject.name) : taskName(clean(taskId));
  const told = `${name} (given up)`;
  const news = ticket.news.filter((each) => each !== name && each !== told);
  return { ...ticket, news: [...news, told].slice(0, MAX_NEWS) };
}

// Whether trackers may be told something now. What people ask for, and a problem that became critical, is always told.

/** More is never needed to count within the limit. */
export const MAX_TOLD = 50;
/** Who joins within this time is told of in one note. */
export const NEWS_AFTER_MS = 60_000;

type Asked = Pick<Ticket, 'number' | 'errorType' | 'told'>;

/** A clock that was set back must not keep us silent for longer than the limit. */
const isWithin = ({ at }: Told, ms: number, now: WallMs): boolean => Math.abs(now - at) < ms;

const timesTold = ({ told }: Pick<Ticket, 'told'>, what: Told['what'], perMs: number, now: WallMs): number =>
  told.filter((one) => one.what === what && isWithin(one, perMs, now)).length;

/** Those that count together with this one. What has no type of error has none in common with others. */
const ofType = ({ by }: RateLimit, { number, errorType }: Asked, others: () => readonly Ticket[]): readonly Ticket[] =>
  by === 'type' && errorType !== null
    ? others().filter((one) => one.number !== number && one.errorType === errorType)
    : [];

/** `others`: tickets that may have been told about lately; asked for only when they count. */
export function mayTell(limit: RateLimit, ticket: Asked, others: () => readonly Ticket[], now: WallMs): boolean {
  const { perMs, max } = limit;
  const all = [ticket, ...ofType(limit, ticket, others)];
  return all.reduce((sum, one) => sum + timesTold(one, 'crash', perMs, now), 0) < max;
}

/** The ticket with the same type of error that was told of last within the limit, and is open: what may have none of its own joins it. */
export function toldOfType(
  limit: RateLimit,
  ticket: Asked,
  others: () => readonly Ticket[],
  now: WallMs,
): Ticket | null {
  const open = ofType(limit, ticket, others).filter(
    (one) => one.state === 'open' && timesTold(one, 'crash', limit.perMs, now) > 0,
  );
  const lastAt = ({ told }: Ticket) => told.findLast(({ what }) => what === 'crash')?.at ?? 0;
  return open.reduce<Ticket | null>((last, one) => (last === null || lastAt(one) > lastAt(last) ? one : last), null);
}

/** Notes about who joined have a limit of their own, and come after a pause in which others may join as well. */
export function mayTellNews({ perMs, max }: RateLimit, ticket: Pick<Ticket, 'told'>, now: WallMs): boolean {
  const isFresh = ticket.told.some((one) => one.what !== 'recovery' && isWithin(one, NEWS_AFTER_MS, now));
  return !isFresh && timesTold(ticket, 'news', perMs, now) < max;
}

export const withTold = (told: readonly Told[], at: WallMs, what: Told['what']): readonly Told[] =>
  [...told, { at, what }].slice(-MAX_TOLD);
