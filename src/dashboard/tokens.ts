/** The tokens of the page: 256 random bits per role, in a file that only its owner can read, compared in constant time. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fstatSync } from 'node:fs';
import { writeAtomically } from '../base/home-dir.ts';
import { AppError } from '../base/pure/errors.ts';
import { openSafely, readRegularFile } from '../base/regular-file.ts';
import { TOKEN_ROLES, type TokenRole } from './rules/access.ts';

export type Tokens = Readonly<Record<TokenRole, string>>;

const TOKEN_BYTES = 32;
const MAX_BYTES = 4_096;
const LINE = /^(control|read|metrics) ([A-Za-z0-9_-]{43})$/;

/** One line per role: `read cL9…`. Made when there is none. Throws TOKEN_FILE_UNSAFE and TOKEN_FILE_BROKEN. */
export function loadTokens(path: string): Tokens {
  const found = readTokens(path);
  if (found !== null) return found;
  const [control, read, metrics] = TOKEN_ROLES.map(() => randomBytes(TOKEN_BYTES).toString('base64url'));
  const tokens = { control: control!, read: read!, metrics: metrics! };
  try {
    writeAtomically(path, TOKEN_ROLES.map((role) => `${role} ${tokens[role]}\n`).join(''));
  } catch (error) {
    throw new AppError('TOKEN_FILE_BROKEN', { path, problem: `it cannot be written: ${(error as Error).message}` });
  }
  return tokens;
}

/** Null: there is no such file. */
function readTokens(path: string): Tokens | null {
  const text = readPrivately(path);
  if (text === null) return null;
  const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [LINE.exec(line)]));
  const pairs = lines.flatMap((line) => (line === null ? [] : [[line[1], line[2]] as const]));
  const tokens = Object.fromEntries(pairs) as Partial<Record<TokenRole, string>>;
  const { control, read, metrics } = tokens;
  const areThree = lines.length === TOKEN_ROLES.length && new Set(Object.values(tokens)).size === TOKEN_ROLES.length;
  if (!areThree || !control || !read || !metrics)
    throw new AppError('TOKEN_FILE_BROKEN', { path, problem: 'it is not what was written there' });
  return { control, read, metrics };
}

function readPrivately(path: string): string | null {
  try {
    const fd = openSafely(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const { uid, mode } = fstatSync(fd);
      const own = process.getuid?.() ?? uid;
      if (uid !== own) throw new AppError('TOKEN_FILE_UNSAFE', { path, problem: `it belongs to user ${uid}` });
      const shown = (mode & 0o777).toString(8).padStart(4, '0');
      if ((mode & 0o077) !== 0)
        throw new AppError('TOKEN_FILE_UNSAFE', { path, problem: `others may read it (mode ${shown})` });
    } finally {
      closeSync(fd);
    }
    return readRegularFile(path, { maxBytes: MAX_BYTES });
  } catch (error) {
    if (error instanceof AppError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new AppError('TOKEN_FILE_BROKEN', { path, problem: (error as Error).message }, { cause: error });
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whose token this is; null: nobody's. Every token is compared, whatever the first one says, and all in the same time. */
export function roleFinder(tokens: Tokens): (given: string) => TokenRole | null {
  const known = TOKEN_ROLES.map((role) => ({ role, hash: digest(tokens[role]) }));
  return (given) => {
    const hash = digest(given);
    let found: TokenRole | null = null;
    for (const token of known) if (timingSafeEqual(token.hash, hash)) found = token.role;
    return found;
  };
}
