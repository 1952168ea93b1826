/** What the native launcher is asked for: one run, in the form that native/request.h describes. */
import type { ShimBounds } from '../limits/bounds.ts';
import type { Delays } from './delays.ts';

export interface ShimRequest {
  /** Comes back with the answer. */
  readonly number: number;
  /** Where the run directory is made before it gets its place; null: it is there already. */
  readonly staging: string | null;
  readonly runsDir: string;
  readonly run: string;
  /** The text of run.json. */
  readonly meta: string;
  readonly log: string;
  /** Of the tree; null: none. */
  readonly cgroup: string | null;
  readonly cwd: string;
  /** Runs scripts without "#!". */
  readonly shell: string;
  readonly softNofile: number | null;
  readonly bounds: ShimBounds | null;
  readonly account: RequestAccount | null;
  readonly delays: Delays;
  readonly command: readonly string[];
  /** Complete, with the cookie. */
  readonly env: Readonly<Record<string, string>>;
}

export interface RequestAccount {
  /** Null: the daemon's. */
  readonly uid: number | null;
  readonly gid: number;
  /** Null: the daemon's. */
  readonly groups: readonly number[] | null;
}

const MAGIC = 'KWR1';
const KIB = 1024;

/** Texts must not contain a NUL, which is checked before anything is started. */
export function encodeRequest(request: ShimRequest): Buffer {
  const { bounds, account, delays, command, env } = request;
  const groups = account?.groups ?? null;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const fields = [
    String(request.number),
    request.staging ?? '',
    request.runsDir,
    request.run,
    request.meta,
    request.log,
    request.cgroup ?? '',
    request.cwd,
    request.shell,
    bounds?.needsTree ? '1' : '',
    given(request.softNofile),
    given(bounds?.nice),
    given(bounds?.umask),
    given(bounds?.nofile),
    given(bounds?.dataKib == null ? null : bounds.dataKib * KIB),
    given(bounds?.userProcesses),
    given(account?.uid),
    given(account?.gid),
    ...[delays.claim, delays.started, delays.exit, delays.record].map((seconds) => String(Math.round(seconds * 1000))),
    ...list(bounds?.joins ?? []),
    groups === null ? 'keep' : '',
    ...list((groups ?? []).map(String)),
    ...list(command),
    ...list(variables),
  ];
  const body = Buffer.from(fields.map((field) => `${field}\0`).join(''));
  const header = Buffer.alloc(MAGIC.length + 4);
  header.write(MAGIC);
  header.writeUInt32LE(body.length, MAGIC.length);
  return Buffer.concat([header, body]);
}

const given = (value: number | null | undefined): string => (value == null ? '' : String(value));
const list = (items: readonly string[]): readonly string[] => [String(items.length), ...items];
