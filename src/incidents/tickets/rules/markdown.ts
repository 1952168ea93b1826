/**
 * A ticket as Markdown. What others wrote stands in code only: there it is shown as it is, and no mention, reference, link, image or
 * tag in it means anything. Around it there is nothing but our own words.
 */

import { bugNumber } from './number.ts';
import { wordsOf } from './pending-updates.ts';
import { ofText } from './text.ts';
import type { PendingUpdate, Step, Ticket } from './ticket.ts';

/** Which ticket a text is about. Hidden, and always its first line: what others wrote never comes first. */
export const marker = (key: string): string => `<!-- keepwell ${key} -->`;

export const hasMarker = (text: string, key: string): boolean => text.startsWith(marker(key));

/** Text of one line, as code. Longer marks around it than any in it, and a blank where one of them would stand beside another. */
export function code(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line === '') return '-';
  const longest = longestRun(line);
  const marks = '`'.repeat(longest + 1);
  return longest === 0 ? `${marks}${line}${marks}` : `${marks} ${line} ${marks}`;
}

/** Text of several lines, as a block of code. */
export function block(text: string): string {
  const marks = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${marks}text\n${text}\n${marks}`;
}

const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);

/** For a title that is shown as plain text, where mentions must not be seen. A blank of no width does that, and can be read over. */
export const plainTitle = (text: string): string =>
  text.replace(/[@#](?=[\w/-])/g, '$&\u200b').replace(/:\/\//g, ':\u200b//');

const iso = (wallMs: number): string => new Date(wallMs).toISOString();

/** What is true of it now: state, count, priority. */
export const stateRows = (ticket: Ticket): string =>
  [
    '| | |',
    '| --- | --- |',
    `| State | ${ticket.state}${ticket.closedAt === null ? '' : ` since ${iso(ticket.closedAt)}`} |`,
    `| Priority | ${ticket.priority} |`,
    ...factRows(ticket),
    `| Count | ${ticket.count} |`,
    `| Last seen | ${iso(ticket.lastSeen)} |`,
  ].join('\n');

/** What does not change. A bar would end the cell of a table, also in code. */
const factRows = (ticket: Ticket): readonly string[] => [
  `| Category | ${ticket.category} |`,
  ...(ticket.assignedTo === null ? [] : [`| Assigned to | ${cell(ticket.assignedTo)} |`]),
  `| Of | ${ofText(ticket)} ${cell(ticket.subject.name)} |`,
  ...cells(
    'Also of',
    ticket.subjects.slice(1).map(({ name }) => name),
  ),
  ...cells(ticket.tasks.length === 1 ? 'Task' : 'Tasks', ticket.tasks),
  ...cells('Affected', ticket.affected),
  ...(ticket.errorType === null ? [] : [`| Error | ${cell(ticket.errorType)} |`]),
  `| Fingerprint | ${cell(ticket.fingerprint)} |`,
  `| First seen | ${iso(ticket.firstSeen)} |`,
];

const MAX_CELL_CHARS = 200;
const MAX_NAMED = 100;

/** All names in one row; none: no row. */
function cells(title: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return [`| ${title} | ${names.slice(0, MAX_NAMED).map(cell).join(', ')}${more} |`];
}

const cell = (text: string): string => code(text.slice(0, MAX_CELL_CHARS).replaceAll('|', '¦'));

/** What happened, and how to see it again. */
export function sections(ticket: Ticket): string {
  const list = (title: string, lines: readonly string[], mark: (at: number) => string) =>
    lines.length === 0 ? [] : [`## ${title}`, lines.map((line, at) => `${mark(at)} ${line}`).join('\n')];
  const steps = ticket.steps?.map(stepText) ?? ticket.reproductionSteps.map(code);
  return [
    '## What happened',
    block(ticket.description),
    ...(ticket.rootCause === null ? [] : ['## Root cause', block(ticket.rootCause)]),
    ...list('How to reproduce it', steps, (at) => `${at + 1}.`),
    ...list('Related files', ticket.relatedFiles.map(code), () => '-'),
    ...(ticket.errorLogs === '' ? [] : ['## Error log', block(ticket.errorLogs)]),
  ].join('\n\n');
}

/** Sentences are ours and read as such; only what is typed or was printed stands in code. */
const stepText = (step: Step): string =>
  step.map((part) => ('code' in part ? code(part.code) : plainWords(part.say))).join('');

/** Nothing of what Markdown or a tracker gives a meaning to. */
const plainWords = (text: string): string => plainTitle(text.replace(/[\\`*_[\]<>|~&]/g, '\\$&'));

/** The body of an issue: written once, so it says how things stood then. */
export const issueBody = (ticket: Ticket): string =>
  [
    marker(ticket.key),
    ['| | |', '| --- | --- |', `| Keepwell | ${bugNumber(ticket.number)} |`, ...factRows(ticket)].join('\n'),
    sections(ticket),
    `Filed by Keepwell after ${ticket.count} ${ticket.count === 1 ? 'time' : 'times'}. \`keepwell tickets show ${bugNumber(ticket.number)}\` shows more.`,
  ].join('\n\n');

export function commentBody(update: Pick<PendingUpdate, 'key' | 'text' | 'also' | 'details'>): string {
  const { key, details } = update;
  return [marker(key), block(wordsOf(update)), ...(details === undefined ? [] : [block(details)])].join('\n\n');
}
