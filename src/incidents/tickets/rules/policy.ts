/**
 * When there is a ticket, and when something is said about it. One clause per case.
 * Nothing is done here: what trackers are to be told is part of the ticket, and written with the crash.
 */
import type { WallMs } from '../../../base/pure/ids.ts';
import { MAX_SPAWN_ERRORS } from '../../../supervision/rules/restart/decide.ts';
import type { Incident } from '../../rules/incident.ts';
import { type Circumstances, type CrashEvidence, type Evidence, NO_CIRCUMSTANCES } from './evidence.ts';
import {
  againText,
  MAX_NAME_CHARS,
  mayTell,
  membersOf,
  openedEvent,
  toldOfType,
  withGivenUp,
  withMembers,
  withTold,
} from './notes.ts';
import { bugNumber } from './number.ts';
import { withPendingUpdate } from './pending-updates.ts';
import { redacted, redactedCircumstances } from './redacted.ts';
import { CRITICAL_ABOVE, DEFAULT_PRIORITY, TICKET_WINDOW_MS, type TicketSettings } from './settings.ts';
import { cleanLine, errorTypeOf, textOf } from './text.ts';
import type { Priority, Ticket, TicketCategory, TicketChange } from './ticket.ts';

export interface TicketInput {
  /** With the crash counted in. */
  readonly incident: Incident;
  readonly evidence: Evidence;
  readonly about?: Circumstances | undefined;
  readonly settings: TicketSettings;
  /** The ticket of this incident, open or closed. */
  readonly existing: Ticket | null;
  /** Tickets that may have been told about lately; only `rate_limit.by: type` asks for them. */
  readonly others?: (() => readonly Ticket[]) | undefined;
  readonly now: WallMs;
  readonly nextNumber: number;
  /** Random; used for a new ticket. */
  readonly key: string;
}

/** The ticket as it is after a crash or a problem; null: there is none (yet). */
export function ticketFor(input: TicketInput): TicketChange | null {
  const { existing, about = NO_CIRCUMSTANCES } = input;
  if (existing === null && !isDue(input)) return null;
  const evidence = redacted(input.evidence, about.secrets ?? []);
  const clean = { ...input, evidence, about: redactedCircumstances(about) };
  return existing === null ? opened(clean) : again(clean, existing);
}

/** It is due. */
function opened(input: TicketInput): TicketChange | null {
  const { incident, evidence, settings, now, key, nextNumber, others = () => [] } = input;
  const about = input.about ?? NO_CIRCUMSTANCES;
  const text = textOf(evidence, incident, about);
  const known = about.secrets ?? [];
  const subject = subjectOf(evidence);
  const asked = { number: nextNumber, errorType: text.errorType, told: [] };
  // A problem that is reported once would otherwise be lost.
  if (evidence.kind === 'crash' && !mayTell(settings.rateLimit, asked, others, now)) {
    const other = toldOfType(settings.rateLimit, asked, others, now);
    return other !== null && givesUp(evidence.crash) ? again(input, other) : null;
  }
  const ticket: Ticket = {
    ...text,
    ...membersOf(incident, known),
    number: nextNumber,
    key,
    incident: incident.id,
    subject: { ...subject, name: cleanLine(subject.name, MAX_NAME_CHARS, known) },
    state: 'open',
    priority: priorityOf(evidence, incident, settings, now),
    category: categoryOf(evidence),
    count: incident.count,
    firstSeen: incident.openedAt,
    lastSeen: incident.lastAt,
    fingerprint: incident.fingerprint,
    news: [],
    closedAt: null,
    told: withTold([], now, 'crash'),
    trackers: {},
  };
  const told = { deed: 'create', text: '' } as const;
  return { ticket: withPendingUpdate(ticket, settings.trackers, told, now), told: [openedEvent(ticket)] };
}

function isDue({ incident, evidence, settings, now }: TicketInput): boolean {
  if (evidence.kind === 'problem') return true;
  return crashesWithin(incident, now) >= settings.afterCrashes || givesUp(evidence.crash);
}

/** Nobody tries any more by itself. */
function givesUp({ rule, counters }: CrashEvidence): boolean {
  if (rule === 'spawn-error') return counters.spawnErrors === MAX_SPAWN_ERRORS;
  return rule === 'limit' || rule === 'never-on' || rule === 'policy-never';
}

/** After giving up, something is tried now and then. That it died again tells nothing new. */
const isQuiet = (evidence: Evidence): boolean =>
  evidence.kind === 'crash' &&
  (evidence.crash.rule === 'quiet-retry-failed' ||
    (evidence.crash.rule === 'spawn-error' && evidence.crash.counters.spawnErrors > MAX_SPAWN_ERRORS));

function again(input: TicketInput, ticket: Ticket): TicketChange {
  const { incident, evidence, settings, now, others = () => [] } = input;
  const about = input.about ?? NO_CIRCUMSTANCES;
  const counted: Ticket = {
    ...withNews(ticket, input),
    // More than one incident may have this ticket.
    count: Math.max(ticket.count + 1, incident.count),
    lastSeen: incident.lastAt,
    rootCause: ticket.rootCause ?? textOf(evidence, incident, about).rootCause,
    priority: higher(ticket.priority, priorityOf(evidence, incident, settings, now)),
  };
  const text = againText(evidence, ticket, counted, about.secrets);
  const also = counted.news.length === 0 ? {} : { also: counted.news };
  const said: Ticket = { ...counted, news: [], told: withTold(counted.told, now, 'crash') };
  if (ticket.state === 'closed') {
    const open: Ticket = { ...said, state: 'open', closedAt: null };
    const reason = 'it crashed again';
    return {
      ticket: withPendingUpdate(open, settings.trackers, { deed: 'reopen', text, ...also }, now),
      told: [{ type: 'ticket.reopened', data: { ticket: bugNumber(ticket.number), count: counted.count, reason } }],
    };
  }
  const mayBeTold = !isQuiet(evidence) && mayTell(settings.rateLimit, ticket, others, now);
  if (counted.priority === ticket.priority && !mayBeTold) {
    return { ticket: withPendingUpdate(counted, settings.trackers, { deed: 'update', text: '' }, now), told: [] };
  }
  return {
    ticket: withPendingUpdate(said, settings.trackers, { deed: 'comment', text, ...also }, now),
    told: [
      { type: 'ticket.commented', data: { ticket: bugNumber(ticket.number), count: counted.count, text, ...also } },
    ],
  };
}

/** Whoever was not named yet, and whoever is given up now, is to be told of: with the next note, or in one of its own. */
function withNews(ticket: Ticket, { incident, evidence, about }: TicketInput): Ticket {
  const known = about?.secrets ?? [];
  const joined = withMembers(ticket, membersOf(incident, known));
  if (evidence.kind === 'problem' || !givesUp(evidence.crash)) return joined;
  return withGivenUp(joined, evidence.crash.subject, evidence.crash.taskId ?? null, known);
}

const subjectOf = (evidence: Evidence) =>
  evidence.kind === 'crash' ? evidence.crash.subject : evidence.problem.subject;

function categoryOf(evidence: Evidence): TicketCategory {
  if (evidence.kind === 'problem') return evidence.problem.category;
  const { freeze } = evidence.crash;
  return freeze === undefined || freeze.timeout ? 'crash' : 'freeze';
}

// How urgent a ticket is. It is raised, never lowered: people may have sorted their work by it.

const ORDER: readonly Priority[] = ['low', 'medium', 'high', 'critical'];

export const higher = (one: Priority, other: Priority): Priority =>
  ORDER.indexOf(one) >= ORDER.indexOf(other) ? one : other;

export function priorityOf(
  evidence: Evidence,
  incident: Incident,
  { priorities }: TicketSettings,
  now: WallMs,
): Priority {
  if (evidence.kind === 'problem') return evidence.problem.priority ?? DEFAULT_PRIORITY;
  const errorType = errorTypeOf(evidence.crash);
  const named = errorType === null ? undefined : (own(priorities, errorType) ?? own(priorities, lastPart(errorType)));
  return crashesWithin(incident, now) > CRITICAL_ABOVE ? 'critical' : (named ?? DEFAULT_PRIORITY);
}

/** Those of the last 24 hours. A clock that was set back loses none. */
export const crashesWithin = ({ recent }: Incident, now: WallMs): number =>
  recent.filter((at) => at > now - TICKET_WINDOW_MS).length;

/** "java.net.ConnectException" and "MyApp::Timeout" are known by their last part, too. */
const lastPart = (type: string): string => type.split(/[.:\\/]/).at(-1) ?? type;

const own = (table: TicketSettings['priorities'], name: string): Priority | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
