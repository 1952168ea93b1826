/** Files out of a container, as the Engine packs them, and unpacked as they come. */
import { PassThrough } from 'node:stream';
import { actionResult, type Caller, isUnreachable } from './caller.ts';
import { parseMessage } from './json.ts';
import type { ArchiveSink, EngineClient } from './ports.ts';

/** Docker and Podman. */
const NO_SUCH_PATH = /could not find the file|no such file or directory/i;

export async function archive(
  caller: Caller,
  id: string,
  path: string,
  sink: ArchiveSink,
  signal: AbortSignal,
): ReturnType<EngineClient['archive']> {
  const pipe = new PassThrough();
  let why: string | null = null;
  const read = readTar(pipe, sink).catch((error: Error) => {
    why ??= error.message;
    pipe.destroy();
  });
  try {
    const asked = `/containers/${encodeURIComponent(id)}/archive?${new URLSearchParams({ path })}`;
    const answer = await caller({ path: asked, onPiece: (piece) => passOn(pipe, piece) }, signal);
    // What went wrong in the reader before the pipe is closed under it, which it would tell as well.
    if (why !== null) return { kind: 'broken', why };
    const isAbsent = !isUnreachable(answer) && answer.status === 404 && NO_SUCH_PATH.test(parseMessage(answer.body));
    if (isAbsent) return { kind: 'absent' };
    if (isUnreachable(answer) || answer.status !== 200) return actionResult(answer, { of: id });
    pipe.end();
    await read;
    return why === null ? { kind: 'done' } : { kind: 'broken', why };
  } finally {
    pipe.destroy();
    await read;
  }
}

/** Resolves when there is room for more; rejects when nobody reads any more. */
const passOn = (pipe: PassThrough, piece: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    pipe.write(piece, (error) => (error ? reject(error) : resolve()));
  });

// Reads a tar archive as it comes: regular files and folders. Whoever wrote it is not trusted: a path that leads out of the archive is
// refused, and links are told and left out, so that nothing is ever written through one.

const BLOCK = 512;
/** Of the text that names a file: longer than any path that Linux opens. */
const MAX_NAME_BYTES = 64 * 1024;

export class TarProblem extends Error {
  override readonly name = 'TarProblem';
}

/** Rejects with a TarProblem when the archive makes no sense, is cut off, or would write where it may not. */
export async function readTar(source: AsyncIterable<Buffer>, sink: ArchiveSink): Promise<void> {
  const bytes = byteSource(source);
  let long: LongFields = NO_LONG_FIELDS;
  for (;;) {
    const block = await bytes.exactly(BLOCK);
    if (block.every((byte) => byte === 0)) return await bytes.drain();
    if (!hasSum(block)) throw new TarProblem('the archive is damaged: a header does not fit its sum');
    const type = String.fromCharCode(block[156]!);
    if (NAMING.has(type)) {
      long = { ...long, ...longFields(type, await content(bytes, sizeAt(block, MAX_NAME_BYTES))) };
      continue;
    }
    await entry(bytes, block, long, sink);
    long = NO_LONG_FIELDS;
  }
}

interface LongFields {
  readonly path: string | null;
  readonly size: number | null;
}

const NO_LONG_FIELDS: LongFields = { path: null, size: null };
/** What says more about the entry that follows: GNU's long names, and the fields of POSIX. */
const NAMING = new Set(['L', 'K', 'x', 'g']);
/** A link has no content, whatever its size says. */
const LINKS = new Set(['1', '2']);

async function entry(bytes: ByteSource, block: Buffer, long: LongFields, sink: ArchiveSink): Promise<void> {
  const type = String.fromCharCode(block[156]!);
  const kind = ['0', '\0', '7'].includes(type) ? 'file' : type === '5' ? 'directory' : 'other';
  const size = LINKS.has(type) ? 0 : (long.size ?? sizeAt(block, Number.MAX_SAFE_INTEGER));
  const [path, mode] = [safePath(long.path ?? nameAt(block)), numberAt(block, 100, 8) & 0o777];
  await sink.begin({ path, kind, size, mode, mtimeSeconds: numberAt(block, 136, 12) });
  for (let left = size; left > 0; ) {
    const piece = await bytes.upTo(left);
    left -= piece.length;
    if (kind === 'file') await sink.data(piece);
  }
  await bytes.exactly(paddingOf(size));
  if (kind === 'file') await sink.end();
}

async function content(bytes: ByteSource, size: number): Promise<Buffer> {
  const whole = await bytes.exactly(size);
  await bytes.exactly(paddingOf(size));
  return whole;
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function sizeAt(block: Buffer, max: number): number {
  const size = numberAt(block, 124, 12);
  if (!(size >= 0 && size <= max)) throw new TarProblem('the archive names an impossible size');
  return size;
}

function longFields(type: string, bytes: Buffer): Partial<LongFields> {
  if (type === 'L') return { path: untilNul(bytes) };
  if (type !== 'x') return {};
  const fields = paxFields(bytes);
  const [path, size] = [fields.get('path'), fields.get('size')];
  return {
    ...(path === undefined ? {} : { path }),
    ...(size !== undefined && /^\d{1,15}$/.test(size) ? { size: Number(size) } : {}),
  };
}

type ByteSource = ReturnType<typeof byteSource>;

function byteSource(source: AsyncIterable<Buffer>) {
  const pieces = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  /** Some bytes, at least one and at most so many. */
  const upTo = async (count: number): Promise<Buffer> => {
    while (rest.length === 0) {
      const { value, done } = await pieces.next();
      if (done) throw new TarProblem('the archive was cut off');
      rest = value;
    }
    const taken = rest.subarray(0, count);
    rest = rest.subarray(taken.length);
    return taken;
  };
  const exactly = async (count: number): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for (let left = count; left > 0; left -= parts.at(-1)!.length) parts.push(await upTo(left));
    return Buffer.concat(parts);
  };
  /** Reads what is left, so that whoever sends it can end. */
  const drain = async (): Promise<void> => {
    for (let next = await pieces.next(); !next.done; ) next = await pieces.next();
  };
  return { upTo, exactly, drain };
}

function hasSum(block: Buffer): boolean {
  const stored = numberAt(block, 148, 8);
  let sum = 0;
  for (let at = 0; at < BLOCK; at += 1) sum += at >= 148 && at < 156 ? 0x20 : block[at]!;
  return sum === stored;
}

/** Octal text, or with the first bit set a big-endian number. */
function numberAt(block: Buffer, at: number, length: number): number {
  if ((block[at]! & 0x80) !== 0) {
    let value = BigInt(block[at]! & 0x7f);
    for (let index = at + 1; index < at + length; index += 1) value = value * 256n + BigInt(block[index]!);
    return Number(value);
  }
  const text = untilNul(block.subarray(at, at + length)).trim();
  return text === '' ? 0 : /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

const untilNul = (bytes: Buffer): string => {
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString('utf8');
};

function nameAt(block: Buffer): string {
  const isUstar = block.subarray(257, 262).toString('latin1') === 'ustar';
  const prefix = isUstar && block[262] === 0 ? untilNul(block.subarray(345, 500)) : '';
  const name = untilNul(block.subarray(0, 100));
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** "LENGTH KEY=VALUE\n", again and again; the length counts itself. */
function paxFields(bytes: Buffer): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(bytes.subarray(at, space).toString('latin1'));
    if (!Number.isInteger(length) || length <= space - at || at + length > bytes.length)
      throw new TarProblem('the archive is damaged: a long name cannot be read');
    const text = bytes.subarray(space + 1, at + length - 1).toString('utf8');
    const equals = text.indexOf('=');
    if (equals > 0) fields.set(text.slice(0, equals), text.slice(equals + 1));
    at += length;
  }
  return fields;
}

function safePath(name: string): string {
  const steps = name.split('/').filter((step) => step !== '' && step !== '.');
  if (name.startsWith('/') || name.includes('\0') || steps.includes('..'))
    throw new TarProblem(`the archive names a path that leads out of it: ${JSON.stringify(name.slice(0, 200))}`);
  return steps.join('/');
}
