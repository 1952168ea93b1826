/**
 * The one place that knows which SQLite is there: `node:sqlite` from Node 22.13 on, the package @photostructure/sqlite on
 * Node 20. Both have the same API; only what is in these interfaces is used.
 *
 * The package is loaded with `import()`: unlike `createRequire(import.meta.url)` that works in ES modules and in the CommonJS
 * bundle alike. It makes loading asynchronous, so the module is loaded once and databases are opened from it synchronously
 * (a damaged database must be replaceable in the middle of a commit).
 *
 * Two differences matter. The package cannot finalize statements, so after `close()` the file stays open until the statements are
 * garbage collected: nothing may rely on `close()` to release locks or to tidy the WAL, unless it prepared nothing. And its errors
 * of `all()` lack the result code, which is added here.
 */
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AppError } from './pure/errors.ts';

export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Statement {
  run(values?: Row): unknown;
  get(values?: Row): Row | undefined;
  all(values?: Row): readonly Row[];
}

export interface Database {
  exec(sql: string): void;
  /** Integers come back as bigint: a number out of a damaged row must not throw. */
  prepare(sql: string): Statement;
  close(): void;
}

export type Access =
  | 'read-write'
  | 'read-only'
  /** Reads the file as it is, without locks, WAL or any write: only for a file that nobody changes. */
  | 'immutable';

export interface Sqlite {
  open(path: string, access: Access): Database;
}

interface RawStatement extends Statement {
  setReadBigInts(enabled: boolean): void;
}

interface RawDatabase {
  exec(sql: string): void;
  prepare(sql: string): RawStatement;
  close(): void;
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => RawDatabase;
}

export async function loadSqlite(): Promise<Sqlite> {
  const native = builtin();
  const { DatabaseSync } = native ?? (await fallback());
  const [afterClose, mended] = native === undefined ? [releaseFiles, withCodes] : [() => {}, asItIs];
  return {
    open: (path, access) => {
      const location = access === 'immutable' ? `${pathToFileURL(path).href}?immutable=1` : path;
      return database(new DatabaseSync(location, { readOnly: access !== 'read-write' }), afterClose, mended);
    },
  };
}

type Mended = (statement: Statement) => Statement;
const asItIs: Mended = (statement) => statement;

function database(raw: RawDatabase, afterClose: () => void, mended: Mended): Database {
  return {
    exec: (sql) => raw.exec(sql),
    prepare: (sql) => {
      const statement = raw.prepare(sql);
      statement.setReadBigInts(true);
      return mended(statement);
    },
    close: () => {
      raw.close();
      afterClose();
    },
  };
}

/** What SQLite calls the results that decide what to do next (https://www.sqlite.org/rescode.html). */
const CODES: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'out of memory': 7,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'file is not a database': 26,
};

/** Package only. */
const withCodes: Mended = (statement) => ({
  run: (...values) => statement.run(...values),
  get: (...values) => statement.get(...values),
  all: (...values) => {
    try {
      return statement.all(...values);
    } catch (error) {
      const errcode = error instanceof Error ? CODES[error.message] : undefined;
      throw errcode === undefined ? error : Object.assign(error as Error, { errcode });
    }
  },
});

/** How many databases may be closed and still have their files open (package only). */
const MAX_LINGERING = 20;
let lingering = 0;

/**
 * A daemon that tries for days to open a database on a broken disk must not run out of file descriptors, and files do not make the
 * collector hurry. So now and then it is asked to.
 */
function releaseFiles(): void {
  lingering += 1;
  if (lingering < MAX_LINGERING) return;
  lingering = 0;
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Node 22 warns on stderr, at loading, that SQLite is experimental; that is our risk and not the user's news. */
function builtin(): SqliteModule | undefined {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes('SQLite')) emitWarning.call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule?.('node:sqlite') as SqliteModule | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

async function fallback(): Promise<SqliteModule> {
  try {
    return (await import('@photostructure/sqlite')) as unknown as SqliteModule;
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message.split('\n')[0]! : String(cause);
    throw new AppError('SQLITE_MISSING', { version: process.versions.node, problem }, { cause });
  }
}
