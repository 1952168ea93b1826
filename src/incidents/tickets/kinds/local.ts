/**
 * Tickets as Markdown files, BUG-003-short-title.md: for people, and for their tools. A file that somebody edited is kept under
 * another name before it is written again, and one that somebody deleted stays deleted until the ticket is reopened.
 */

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { DEFAULTS } from '../../../config/defaults.ts';
import { optional, path } from '../../../config/leaves.ts';
import { wrapped } from '../../../config/words/argv.ts';
import { type DeliveryFailure, type DeliveryResult, halt, later } from '../../delivery-queue.ts';
import type { Delivered, Delivery, ResolvedTracker, TrackerKind } from '../kind.ts';
import { code, hasMarker, marker, sections, stateRows } from '../rules/markdown.ts';
import { bugNumber } from '../rules/number.ts';
import { wordsOf } from '../rules/pending-updates.ts';
import type { PendingUpdate, Ticket } from '../rules/ticket.ts';

export interface LocalTracker extends ResolvedTracker {
  readonly kind: 'local';
  readonly dir: string;
}

const schema = optional(
  z.strictObject({
    dir: optional(path, {
      description:
        'Where the files are written, relative to the folder of the first configuration file. It is created if needed.',
      defaultsTo: DEFAULTS.tickets.dir,
      example: 'docs/bugs',
    }),
  }),
  { description: 'Markdown files, `BUG-003-….md`.', defaultNote: 'none' },
);

const MAX_SLUG_CHARS = 48;
/** Of names that somebody else took, or that hold what somebody edited. */
const MAX_NAMES = 100;

export const local = {
  schema,
  missing: {},
  words: ['file', 'files', 'markdown', 'directory', 'dir'],
  inside: { dir: ['directory', 'path', 'folder'] },
  forms: { '': wrapped('local', 'dir') },
  place: ({ dir = '' }) => `dir ${dir}`,
  resolve: ({ dir: given = DEFAULTS.tickets.dir }, { absolute }): LocalTracker => {
    const dir = absolute(given);
    return { kind: 'local', target: dir, dir };
  },
  keepsCopy: true,
  isElsewhere: false,
  deliver: async ({ dir }, delivery) => {
    try {
      return await write(dir, delivery);
    } catch (error) {
      return problemOf(error, dir);
    }
  },
} satisfies TrackerKind<typeof schema, LocalTracker>;

async function write(dir: string, { ticket, update, id, address }: Delivery): Promise<DeliveryResult<Delivered>> {
  await makeDir(dir);
  const found = await ownFile(dir, ticket, id);
  if (found === null && id !== null && update.deed !== 'reopen') {
    const note = `${join(dir, id)} was deleted; it is written again when the ticket is reopened`;
    return { ok: true, id, address, note };
  }
  const name = found?.name ?? (await freeName(dir, `${bugNumber(ticket.number)}-${slug(ticket.title)}`));
  const copy = found?.document.isEdited ? await keptCopy(dir, found.name, found.text) : null;
  const rest = withNote(found?.document.rest ?? NEW_REST, update);
  const text = writeDocument(ticket, rest);
  if (text !== found?.text) await writeWhole(dir, name, text);
  const path = join(dir, name);
  const note = copy === null ? {} : { note: `somebody edited ${path}; their text is kept in ${join(dir, copy)}` };
  return { ok: true, id: name, address: path, ...note };
}

interface Own {
  readonly name: string;
  readonly text: string;
  readonly document: Document;
}

/** The file of this ticket, also after somebody gave it another name that begins with its number. */
async function ownFile(dir: string, { number, key }: Ticket, id: string | null): Promise<Own | null> {
  const names = await namesWith(dir, bugNumber(number));
  for (const name of new Set([...(id === null ? [] : [id]), ...names])) {
    if (name.includes(KEPT)) continue;
    const found = await readText(join(dir, name));
    const document = found.kind === 'text' ? readDocument(found.text, key) : null;
    if (found.kind === 'text' && document !== null) return { name, text: found.text, document };
  }
  return null;
}

async function freeName(dir: string, stem: string): Promise<string> {
  for (let count = 1; count <= MAX_NAMES; count++) {
    const name = `${stem}${count === 1 ? '' : `-${count}`}.md`;
    if ((await readText(join(dir, name))).kind === 'none') return name;
  }
  throw new Error(`no name is left for ${stem}.md`);
}

const KEPT = '.edited';

async function keptCopy(dir: string, name: string, text: string): Promise<string> {
  const copy = await freeName(dir, `${name.replace(/\.md$/, '')}${KEPT}`);
  await writeWhole(dir, copy, text);
  return copy;
}

/** "worker: ImportError: cannot import name …" → "worker-importerror-cannot-import-name" */
export function slug(title: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  const short = words.length <= MAX_SLUG_CHARS ? words : words.slice(0, MAX_SLUG_CHARS + 1).replace(/-[^-]*$/, '');
  return short.slice(0, MAX_SLUG_CHARS) || 'ticket';
}

const LASTING: readonly string[] = ['EACCES', 'EPERM', 'ENOTDIR', 'EROFS', 'EEXIST'];

function problemOf(error: unknown, dir: string): DeliveryFailure {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const words = `cannot write in ${dir}: ${message}`;
  return LASTING.includes(code) ? halt(`${words}; give this tracker a directory that can be written to`) : later(words);
}

// A ticket as a file. Its first part is ours and written anew when something changes; a checksum tells whether somebody changed it. What
// stands below is never touched: notes are added at its end, and people may write there whatever they like.

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
    stateRows(ticket),
    sections(ticket),
  ].join('\n\n')}\n\n`;
  return `${ours}<!-- end of what Keepwell writes ${checksum(ours)} - what is below this line is yours -->${rest}`;
}

export const NEW_REST = `\n\n${NOTES}\n`;

/** One more note at the end, unless it is there already. */
export function withNote(rest: string, update: PendingUpdate): string {
  const { key, at } = update;
  const text = wordsOf(update);
  const mark = marker(key);
  if (text === '' || rest.includes(mark)) return rest;
  return `${rest.trimEnd()}\n${rest.trimEnd().endsWith(NOTES) ? '\n' : ''}- ${new Date(at).toISOString()} ${code(text)} ${mark}\n`;
}

const checksum = (text: string): string => createHash('sha256').update(text).digest('hex');

// Reading and writing the files of tickets: whole or not at all, and never through a link.

/** Whatever is longer was not written by us alone. */
const MAX_BYTES = 1024 * 1024;
/** They quote logs: nobody but their owner reads them, unless he lets others. */
const FILE_MODE = 0o600;

export type Found =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'odd' };

/** odd: something is there that is no file of reasonable size. */
export async function readText(path: string): Promise<Found> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > MAX_BYTES) return { kind: 'odd' };
    return { kind: 'text', text: await file.readFile('utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'none' };
    if (code === 'ELOOP' || code === 'EISDIR' || code === 'ENXIO') return { kind: 'odd' };
    throw error;
  }
}

/** In one step, and on disk when it resolves. `isNew`: fails with EEXIST when there is something of this name. */
export async function writeWhole(dir: string, name: string, text: string): Promise<void> {
  const path = join(dir, name);
  const draft = join(dir, `.${name}.tmp`);
  try {
    await rm(draft, { force: true }); // of one of us that was killed
    {
      await using file = await open(draft, 'wx', FILE_MODE);
      await file.writeFile(text);
      await file.sync();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await using folder = await open(dir, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK);
  await folder.sync();
}

export async function makeDir(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
}

/** Names of files that begin so; none when there is no directory. */
export async function namesWith(dir: string, prefix: string): Promise<readonly string[]> {
  try {
    return (await readdir(dir)).filter((name) => name.startsWith(prefix) && name.endsWith('.md')).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
