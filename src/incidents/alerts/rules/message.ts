/** One message to people: everything that is to be told at this moment. Pure. */

import { redact } from '../../../base/pure/redact.ts';
import type { Subject } from '../../../supervision/rules/views.ts';
import { someOf } from '../../rules/words.ts';
import { bugNumber } from '../../tickets/rules/number.ts';
import { type AlertKind, joinedSince, type OpenAlert, type RaisedAlert, type Telling } from './book.ts';

export interface AlertItem {
  /** raised: it is new, or others joined. still: it was told before, and is not over. over: it is. */
  readonly state: 'raised' | 'still' | 'over';
  readonly kind: AlertKind;
  readonly key: string;
  readonly subject: Subject;
  readonly text: string;
  /** Everybody that it is about. */
  readonly who: readonly string[];
  /** Those of them that people were not told of before, when they know of the others. */
  readonly joined: readonly string[];
  readonly incident: number | null;
  /** "BUG-003" */
  readonly ticket: string | null;
  readonly since: string;
}

export interface AlertMessage {
  readonly schema_version: 1;
  /** The same when it is sent again because it is not known whether it arrived. */
  readonly id: string;
  readonly at: string;
  readonly project: string;
  /** All of it in a sentence or two. */
  readonly text: string;
  readonly alerts: readonly AlertItem[];
  /** The daily digest. Absent: it is about alerts. */
  readonly digest?: Digest;
}

/** What happened since the last one, and what is not over. */
export interface Digest {
  /** After the last digest. */
  readonly since: string;
  readonly until: string;
  readonly crashes: number;
  /** Who crashed most comes first. */
  readonly crashed: readonly { readonly name: string; readonly crashes: number }[];
  /** Incidents that began, and those that ended. */
  readonly opened: number;
  readonly resolved: number;
  /** Incidents that are not over. */
  readonly open: readonly { readonly incident: number; readonly title: string; readonly since: string }[];
  /** Components that are no longer restarted. */
  readonly gave_up: readonly string[];
  /** All of it as plain text. */
  readonly lines: readonly string[];
}

const MAX_ITEMS = 50;
const MAX_TEXT_CHARS = 500;
const MAX_NAMED = 3;
const MAX_NAMES = 100;
/** Control characters, and those that turn the direction of text around. */
const UNSEEN = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

export const clean = (text: string): string => {
  const line = redact(text.replace(UNSEEN, ' ')).trim();
  return line.length > MAX_TEXT_CHARS ? `${line.slice(0, MAX_TEXT_CHARS - 1)}…` : line;
};

const time = (at: number): string => new Date(Math.abs(at) <= 8.64e15 ? at : 0).toISOString();

const itemOf =
  (state: AlertItem['state']) =>
  (open: OpenAlert): AlertItem => {
    const { alert, since } = open;
    const { kind, key, subject, incident, ticket } = alert;
    const names = (all: readonly string[]) => all.slice(0, MAX_NAMES).map(clean);
    return {
      ...{ state, kind, key },
      subject: { ...subject, name: clean(subject.name) },
      text: clean(state === 'over' ? overText(alert) : alert.text),
      who: names(alert.who ?? [subject.name]),
      joined: state === 'raised' ? names(joinedSince(open)) : [],
      incident,
      ticket: ticket === null ? null : bugNumber(ticket),
      since: time(since.wall),
    };
  };

/** What was said when it began reads as its opposite when it is over. */
function overText({ kind, who, subject, text }: RaisedAlert): string {
  const names =
    kind === 'crash-rate' && subject.kind === 'daemon'
      ? 'there are fewer crashes again'
      : someOf(who ?? [subject.name]);
  return `${names} (was: ${text})`;
}

export function messageOf(telling: Telling, head: { id: string; at: number; project: string }): AlertMessage {
  const { raised, joined, still, over } = telling;
  const all = [
    ...[...raised, ...joined].map(itemOf('raised')),
    ...still.map(itemOf('still')),
    ...over.map(itemOf('over')),
  ];
  return {
    schema_version: 1,
    id: head.id,
    at: time(head.at),
    project: head.project,
    text: `[${head.project}] ${sentence(all)}`,
    alerts: all.slice(0, MAX_ITEMS),
  };
}

/** What is sent when somebody wants to know whether a channel works. */
export function testMessage(head: { id: string; at: number; project: string }): AlertMessage {
  const text = 'This is a test: alerts arrive here';
  const item: AlertItem = {
    ...{ state: 'raised', kind: 'gave-up', key: 'test', subject: { kind: 'daemon', name: 'keepwell' }, text },
    ...{ who: [], joined: [], incident: null, ticket: null, since: time(head.at) },
  };
  const { id, at, project } = head;
  return { schema_version: 1, id, at: time(at), project, text: `[${project}] ${text}`, alerts: [item] };
}

const MARK: Readonly<Record<AlertItem['state'], string>> = { raised: 'New', still: 'Still there', over: 'Recovered' };

/** A line of plain text for each, for channels that show several; `most` of them, and how many more there are. */
export function linesOf({ alerts, digest }: AlertMessage, most: number): string[] {
  if (digest !== undefined) return digest.lines.slice(0, most);
  const lines = alerts.slice(0, most).map(({ state, text, joined, incident, ticket }) => {
    const mark = joined.length === 0 ? MARK[state] : `Now also ${someOf(joined)}`;
    const refs = [...(incident === null ? [] : [`incident ${incident}`]), ...(ticket === null ? [] : [ticket])];
    return `${mark}: ${text}${refs.length > 0 ? ` (${refs.join(', ')})` : ''}`;
  });
  const rest = alerts.length - lines.length;
  return rest > 0 ? [...lines, `and ${rest} more`] : lines;
}

function sentence(items: readonly AlertItem[]): string {
  const parts = (['raised', 'still', 'over'] as const).flatMap((state) => {
    const some = items.filter((item) => item.state === state);
    return some.length === 0 ? [] : [`${LEAD[state](some.length)}${named(some)}`];
  });
  return parts.join('. ');
}

const LEAD: Readonly<Record<AlertItem['state'], (count: number) => string>> = {
  raised: (count) => (count === 1 ? '' : `${count} problems: `),
  still: (count) => (count === 1 ? 'Still: ' : `${count} problems are still there: `),
  over: (count) => (count === 1 ? 'Recovered: ' : `${count} recovered: `),
};

function named(items: readonly AlertItem[]): string {
  const first = items.slice(0, MAX_NAMED).map(({ text, ticket, joined }) => {
    const lead = joined.length === 0 ? '' : `Now also ${someOf(joined)}: `;
    return `${lead}${text}${ticket === null ? '' : ` (${ticket})`}`;
  });
  const more = items.length - first.length;
  return `${first.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
