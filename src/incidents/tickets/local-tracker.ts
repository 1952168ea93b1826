/**
 * Tickets as Markdown files, BUG-003-short-title.md: for people, and for their tools. A file that somebody edited is kept under
 * another name before it is written again, and one that somebody deleted stays deleted until the ticket is reopened.
 */
import { join } from 'node:path';
import { bugNumber } from './rules/number.ts';
import type { TrackerSpec } from './rules/settings.ts';
import type { Deed, Ticket } from './rules/ticket.ts';
import type { Delivery, DeliveryResult, Tracker } from './ports.ts';
import { done, halt, later } from './outcome.ts';
import { type Document, NEW_REST, readDocument, withNote, writeDocument } from './local-document.ts';
import { makeDir, namesWith, readText, writeWhole } from './local-files.ts';

type LocalSpec = Extract<TrackerSpec, { kind: 'local' }>;

const DEEDS: ReadonlySet<Deed> = new Set(['create', 'comment', 'recovered', 'reopen', 'close', 'update']);
const MAX_SLUG_CHARS = 48;
/** Of names that somebody else took, or that hold what somebody edited. */
const MAX_NAMES = 100;

export function createLocalTracker({ name, target, dir }: LocalSpec): Tracker {
  return {
    name,
    target,
    deeds: DEEDS,
    async deliver(delivery) {
      try {
        return await write(dir, delivery);
      } catch (error) {
        return problemOf(error, dir);
      }
    },
  };
}

async function write(dir: string, { ticket, errand, id, address }: Delivery): Promise<DeliveryResult> {
  await makeDir(dir);
  const found = await ownFile(dir, ticket, id);
  if (found === null && id !== null && errand.deed !== 'reopen') {
    return done({ id, address, note: `${join(dir, id)} was deleted; it is written again when the ticket is reopened` });
  }
  const name = found?.name ?? (await freeName(dir, `${bugNumber(ticket.number)}-${slug(ticket.title)}`));
  const copy = found?.document.isEdited ? await keptCopy(dir, found.name, found.text) : null;
  const rest = withNote(found?.document.rest ?? NEW_REST, errand);
  const text = writeDocument(ticket, rest);
  if (text !== found?.text) await writeWhole(dir, name, text);
  const path = join(dir, name);
  const note = copy === null ? {} : { note: `somebody edited ${path}; their text is kept in ${join(dir, copy)}` };
  return done({ id: name, address: path, ...note });
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

function problemOf(error: unknown, dir: string): DeliveryResult {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const words = `cannot write in ${dir}: ${message}`;
  return LASTING.includes(code) ? halt(`${words}; give this tracker a directory that can be written to`) : later(words);
}
