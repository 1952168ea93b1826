/** Passes when one of these paths is there, on this machine or in a container. */

import { lstat, stat } from 'node:fs/promises';
import { z } from 'zod';
import { leaf, optional, path } from '../../config/leaves.ts';
import { readAs, readPath, refuse } from '../../config/readers.ts';
import { printable, shorten } from '../../config/text.ts';
import { listText, textOr } from '../../config/words/argv.ts';
import type { ContainerEngine, PathLookup } from '../../docker/ports.ts';
import { createGate, type Gate } from '../gate.ts';
import { type FoundContainer, inRunning, inside, notInTime } from '../in-container.ts';
import type { CheckKind, CheckOf } from '../kind.ts';
import { failed, ok } from '../rules/results.ts';
import type { CheckResult } from '../spec.ts';

const map = z
  .strictObject({
    in: inside,
    any_of: z.union([z.array(path), path]).meta({
      description:
        'One of these must exist. Relative to the folder of the first configuration file; inside a container, absolute.',
      example: ['/root/.claude/credentials.json'],
    }),
  })
  .meta({ id: 'check-file-exists' });

const short = leaf<z.output<typeof map>>(
  readAs(readPath, (path) => ({ any_of: [path] })),
  'path',
  { type: 'string', minLength: 1 },
);

const schema = optional(z.union([map, short]), {
  description: 'A file or folder exists, on this machine or inside a container. Short form: a path.',
  defaultNote: 'none',
  example: { in: 'sandbox', any_of: ['/root/.claude/credentials.json'] },
});

const anyText = textOr('/path/to/file');

export const fileExistsKind = {
  schema,
  missing: { any_of: refuse('nothing says what must be there', 'Write: any_of: [/path/to/file]') },
  words: { file: anyText, files: anyText, path: anyText, exists: anyText, fileexist: anyText },
  forms: {
    '': (node) =>
      node.kind === 'list'
        ? refuse(
            'must be a path or a map, not a list',
            `Write: file_exists: { any_of: ${printable(shorten(listText(node, 'other')))} }`,
          )
        : null,
  },
  check: (file, path, say) => {
    const at = [...path, 'any_of'];
    const paths = Array.isArray(file.any_of) ? file.any_of : [];
    if (Array.isArray(file.any_of) && paths.length === 0)
      say(at, 'is empty, so nothing could be there', 'Name at least one path.');
    if (file.in === undefined) return;
    const listed = typeof file.any_of === 'string' ? [file.any_of] : paths;
    for (const [index, each] of listed.entries()) {
      if (each === undefined || each.startsWith('/')) continue;
      const hint = `Write /${printable(shorten(each.replace(/^(?:\.\/)+/, '')))}, or where it really is.`;
      const place = typeof file.any_of === 'string' ? at : [...at, index];
      say(place, 'a path inside a container must begin with a slash', hint);
    }
  },
  resolve: ({ in: container = null, any_of }, { absolute }) => {
    const paths = [any_of].flat();
    // Inside a container they are absolute already, and none of this machine's business.
    return { kind: 'file_exists', in: container, anyOf: container === null ? paths.map(absolute) : paths };
  },
  isPutToTheEngine: ({ in: container }) => container !== null,
  ask: async ({ in: container, anyOf }, { engine }, signal) =>
    container === null ? fileExists({ anyOf }, signal) : fileExistsIn({ in: container, anyOf }, await engine(), signal),
} satisfies CheckKind<'file_exists', typeof schema>;

async function fileExists({ anyOf }: Pick<CheckOf<'file_exists'>, 'anyOf'>, signal: AbortSignal): Promise<CheckResult> {
  const problems: string[] = [];
  for (const path of anyOf) {
    const problem = await lookAt(path, () => problemWith(path), signal);
    if (problem === null) return ok(`${path} exists`);
    problems.push(problem);
  }
  return failed(problems.join('; '));
}

/** Null: it is there. */
async function problemWith(path: string): Promise<string | null> {
  try {
    await stat(path);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && (await isLink(path))) return `${path} is a symbolic link to something that is not there`;
    if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no ${path}`;
    if (code === 'EACCES' || code === 'EPERM') return `whether ${path} exists cannot be checked (permission denied)`;
    return `${path} could not be checked (${code ?? String(error)})`;
  }
}

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );

// Passes when one of these paths is there in a container, links followed. The Engine is asked to look, so nothing runs in the container and
// its image needs no shell. The Engine does not see what is mounted in memory: only where that could be why it found nothing, a program in
// the container is asked.

export interface FileExistsIn {
  readonly in: string;
  readonly anyOf: readonly string[];
}

/** There for the processes in every container, and for nobody else. */
const ALWAYS_HIDDEN = ['/dev', '/proc', '/sys'];

export const fileExistsIn = (
  { in: container, anyOf }: FileExistsIn,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<CheckResult> =>
  inRunning(container, engine, signal, async (found) => {
    const problems: string[] = [];
    for (const path of anyOf) {
      const seen = await look(path, found, engine, signal);
      if (seen.kind === 'there') return ok(`${path} exists`);
      if (seen.kind === 'unreachable') return failed(seen.why);
      problems.push(seen.kind === 'absent' ? `there is no ${path}` : `${path} could not be checked: ${seen.why}`);
    }
    return failed(`in container "${container}" ${problems.join('; ')}`);
  });

async function look(
  path: string,
  { state: { id }, setup: { tmpfs } }: FoundContainer,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<PathLookup> {
  const seen = await engine.lookUp(id, path, signal);
  if (seen.kind !== 'absent') return seen;
  const isHidden = isBelow(path, [...ALWAYS_HIDDEN, ...tmpfs]);
  // A link may lead into memory from anywhere, so one place of it is enough to doubt.
  if (!isHidden && tmpfs.length === 0) return seen;
  const again = await lookFromWithin(id, path, engine, signal);
  return again.kind === 'unknown' && !isHidden ? seen : again;
}

const isBelow = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path === place || path.startsWith(place.endsWith('/') ? place : `${place}/`));

// Whether a file is there, asked of the container's own `test`: it sees what is mounted in memory, but not every image has one.

const THERE = 0;
const ABSENT = 1;

export async function lookFromWithin(
  id: string,
  path: string,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<PathLookup> {
  const result = await engine.exec(id, ['test', '-e', path], signal);
  switch (result.kind) {
    case 'exited':
      if (result.code === THERE) return { kind: 'there' };
      if (result.code === ABSENT) return { kind: 'absent' };
      return { kind: 'unknown', why: `"test -e" ended with exit code ${result.code}` };
    case 'not-started':
      return {
        kind: 'unknown',
        why: 'it is mounted in memory, where Docker cannot look, and there is no program "test" in the container to ask',
      };
    case 'called-off': {
      const left = result.left === null ? '' : `; ${result.left}`;
      return { kind: 'unreachable', why: `${notInTime(signal)} from "test -e ${path}" in the container${left}` };
    }
    case 'unreachable':
      return result;
    default:
      throw new Error(`no such result: ${JSON.stringify(result satisfies never)}`);
  }
}

// Looks at files of this machine, few at a time. A file on a drive that does not answer keeps one of Node's four threads until it does, and
// nothing can call that off: asked again every minute, such a file would soon hold up all that a daemon does with files. So a path that has
// not been answered for is not asked for again, and never more than half of the threads are used.

const MAX_AT_ONCE = 2;

/** Rejects with the signal's reason when it aborts before the turn has come. */
export type FileQueue = <T>(path: string, look: () => Promise<T>, signal: AbortSignal) => Promise<T>;

export function createFileQueue(): FileQueue {
  const together = createGate(MAX_AT_ONCE);
  /** As many as the configuration has named. */
  const alone = new Map<string, Gate>();
  return (path, look, signal) => {
    const gate = alone.get(path) ?? createGate(1);
    alone.set(path, gate);
    return gate.pass(() => together.pass(look, signal), signal);
  };
}

/** One for the process, because the threads are. */
export const lookAt = createFileQueue();
