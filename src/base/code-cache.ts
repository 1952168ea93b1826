/**
 * What V8 made of our own source, kept from one start to the next: half of a start was spent on compiling the same text again. A cache
 * is code, so only a file is used that nobody but this user (or root, above it) could have written; and V8 believes what it is given, so
 * it is used only when its checksum and that of the source are right. Anything else: the source is compiled, as if there were none.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

export interface CodeCacheOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of the program: each installation has a cache of its own. */
  readonly program: string;
  /** What this process is about to do: it finds what another one needed that did the same. */
  readonly role: string;
  readonly uid: number;
}

export interface CodeCache {
  /** What V8 made of this source; undefined: nothing is known of it. */
  find(name: string, source: Buffer): Buffer | undefined;
  /** For the next start. `isKnown`: made of what was found. */
  add(name: string, source: Buffer, script: Script, isKnown: boolean): void;
  /** Writes what was added, if there is anything new. Never fails: the next start may be slower then. */
  save(): void;
}

interface Entry {
  readonly name: string;
  /** Checksum of the source. */
  readonly source: number;
  readonly length: number;
}

/** Checksum of all that follows, length of the list of entries. */
const HEAD_BYTES = 8;
/** V8 copies what does not begin at such a place. */
const ALIGNMENT = 8;
/** Caches of installations that are not used any more. */
const UNUSED_MS = 30 * 24 * 60 * 60 * 1000;
/** A file that is being written is finished by then, or never will be. */
const WRITING_MS = 60 * 1000;

/** Null: there is no place for one that only this user can write, or nobody wants it. */
export function openCodeCache({ env, program, role, uid }: CodeCacheOptions): CodeCache | null {
  if (env['NODE_DISABLE_COMPILE_CACHE'] || env['NODE_V8_COVERAGE']) return null; // as with the cache of Node itself
  const home = cacheHome(env);
  if (home === null) return null;
  const own = `${process.version}-${process.arch}-${crc32(program).toString(16)}`;
  const dir = join(home, 'keepwell', own);
  const file = join(dir, `${role}.cache`);
  const found = readCache(file, uid);
  const scripts = new Map<string, { readonly source: number; readonly data: () => Buffer }>();
  let isNew = false;
  return {
    find: (name, source) => {
      const known = found.get(name);
      return known !== undefined && known.source === crc32(source) ? known.data : undefined;
    },
    add: (name, source, script, isKnown) => {
      scripts.set(name, { source: crc32(source), data: () => script.createCachedData() });
      isNew ||= !isKnown;
    },
    save: () => {
      if (!isNew) return;
      isNew = false;
      const rest = [...found].filter(([name]) => !scripts.has(name));
      const all = [
        ...[...scripts].map(([name, { source, data }]) => ({ name, source, data: data() })),
        ...rest.map(([name, { source, data }]) => ({ name, source, data })),
      ];
      try {
        for (const each of [home, dirname(dir), dir]) makeFolder(each);
        if (isOnlyOurs(dir, uid)) write(file, all);
        forgetUnused(dirname(dir));
      } catch {
        // a disk that is full or read-only, a home that is nobody's
      }
    },
  };
}

/** Not with `recursive`: below /proc Node tries that for ever. */
function makeFolder(dir: string): void {
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) mkdirSync(dir, { mode: 0o700 });
}

/** As the XDG base directories have it: a relative path counts for nothing. */
function cacheHome({ XDG_CACHE_HOME, HOME }: CodeCacheOptions['env']): string | null {
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  return HOME && isAbsolute(HOME) ? join(HOME, '.cache') : null;
}

interface Found {
  readonly source: number;
  readonly data: Buffer;
}

/** Empty: there is none, or none that can be used. */
function readCache(file: string, uid: number): ReadonlyMap<string, Found> {
  const found = new Map<string, Found>();
  try {
    const bytes = readOwn(file, uid);
    if (bytes === null || bytes.readUInt32LE(0) !== crc32(bytes.subarray(4))) return found;
    const begin = HEAD_BYTES + bytes.readUInt32LE(4);
    let at = aligned(begin);
    for (const { name, source, length } of JSON.parse(bytes.toString('utf8', HEAD_BYTES, begin)) as Entry[]) {
      found.set(name, { source, data: bytes.subarray(at, at + length) });
      at = aligned(at + length);
    }
  } catch {
    // not there yet
  }
  return found;
}

function readOwn(file: string, uid: number): Buffer | null {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    const isOurs = stat.isFile() && stat.uid === uid && (stat.mode & 0o022) === 0;
    return isOurs && isOnlyOurs(dirname(file), uid) ? readFileSync(fd) : null;
  } finally {
    closeSync(fd);
  }
}

/** Nobody else can have put anything there: it and all above it belong to this user or to root, and others cannot write there. */
function isOnlyOurs(dir: string, uid: number): boolean {
  for (let at = dir; ; at = dirname(at)) {
    for (const { uid: owner, mode } of [lstatSync(at), statSync(at)]) {
      const isLink = (mode & constants.S_IFMT) === constants.S_IFLNK; // it has no permissions of its own
      const isShared = (mode & 0o022) !== 0 && (mode & 0o1000) === 0; // where everybody may write, as in /tmp, nobody can touch what others have
      if ((owner !== uid && owner !== 0) || (isShared && !isLink)) return false;
    }
    if (at === dirname(at)) return true;
  }
}

function write(file: string, all: readonly { name: string; source: number; data: Buffer }[]): void {
  const entries: Entry[] = all.map(({ name, source, data }) => ({ name, source, length: data.length }));
  const list = Buffer.from(JSON.stringify(entries));
  const head = Buffer.alloc(aligned(HEAD_BYTES + list.length));
  head.writeUInt32LE(list.length, 4);
  list.copy(head, HEAD_BYTES);
  const padded = all.flatMap(({ data }) => [data, Buffer.alloc(aligned(data.length) - data.length)]);
  const bytes = Buffer.concat([head, ...padded]);
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  const draft = `${file}.new`;
  if (Date.now() - (statSync(draft, { throwIfNoEntry: false })?.mtimeMs ?? 0) > WRITING_MS)
    rmSync(draft, { force: true });
  writeFileSync(draft, bytes, { mode: 0o600, flag: 'wx' }); // somebody else writes the same just now: theirs will do
  renameSync(draft, file);
}

const aligned = (at: number): number => Math.ceil(at / ALIGNMENT) * ALIGNMENT;

function forgetUnused(dir: string): void {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    const isUnused = Date.now() - statSync(path).mtimeMs > UNUSED_MS;
    if (isUnused && /^v\d+\.\d+\.\d+-\w+-[0-9a-f]+$/.test(basename(path)))
      rmSync(path, { recursive: true, force: true });
  }
}
