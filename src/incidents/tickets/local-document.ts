/**
 * A ticket as a file. Its first part is ours and written anew when something changes; a checksum tells whether somebody changed it.
 * What stands below is never touched: notes are added at its end, and people may write there whatever they like.
 */
import { createHash } from 'node:crypto';
import { wordsOf } from './rules/errands.ts';
import { code, hasMarker, marker, sections, standingRows } from './rules/markdown.ts';
import { bugNumber } from './rules/number.ts';
import type { Errand, Ticket } from './rules/ticket.ts';

const END = /^<!-- end of what Keepwell writes ([0-9a-f]{64})[^\n]*-->$/m;
const NOTES = '## Notes';

export interface Document {
  /** Our part as it is in the file. */
  readonly ours: string;
  readonly rest: string;
  /** Somebody changed our part. */
  readonly isEdited: boolean;
}

/** Null: this is not the file of the ticket with this key. */
export function readDocument(text: string, key: string): Document | null {
  if (!hasMarker(text, key)) return null;
  const end = lastEnd(text);
  if (end === null) return { ours: text, rest: `\n\n${NOTES}\n`, isEdited: true };
  const ours = text.slice(0, end.index);
  return { ours, rest: text.slice(end.index + end[0].length), isEdited: checksum(ours) !== end[1] };
}

/** The first one that stands where ours would: code above it cannot look like it, because it is the only one with our checksum. */
function lastEnd(text: string): RegExpExecArray | null {
  const all = [...text.matchAll(new RegExp(END, 'gm'))];
  return all.find((one) => checksum(text.slice(0, one.index)) === one[1]) ?? all.at(-1) ?? null;
}

export function writeDocument(ticket: Ticket, rest: string): string {
  const ours = `${[
    marker(ticket.key),
    `# ${bugNumber(ticket.number)}: ${code(ticket.title)}`,
    standingRows(ticket),
    sections(ticket),
  ].join('\n\n')}\n\n`;
  return `${ours}<!-- end of what Keepwell writes ${checksum(ours)} - what is below this line is yours -->${rest}`;
}

export const NEW_REST = `\n\n${NOTES}\n`;

/** One more note at the end, unless it is there already. */
export function withNote(rest: string, errand: Errand): string {
  const { key, at } = errand;
  const text = wordsOf(errand);
  const mark = marker(key);
  if (text === '' || rest.includes(mark)) return rest;
  return `${rest.trimEnd()}\n${rest.trimEnd().endsWith(NOTES) ? '\n' : ''}- ${new Date(at).toISOString()} ${code(text)} ${mark}\n`;
}

const checksum = (text: string): string => createHash('sha256').update(text).digest('hex');
