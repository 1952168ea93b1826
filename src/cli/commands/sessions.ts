/** keepwell sessions: containers of users, one each, for a limited time. */
import { Option } from 'commander';
import type { SessionView } from '../../sessions/rules/view.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { type CliCall, usage } from '../call.ts';
import { byAction, type Definition, durationOption } from '../define.ts';
import type { Brush, Paint } from '../print/colour.ts';
import { localTime, relative } from '../print/json.ts';
import { oneLine } from '../print/sanitise.ts';
import { table } from '../print/table.ts';
import { readNoted } from '../records.ts';

interface Options {
  readonly user?: string;
  readonly all?: true;
  readonly ttl?: number;
  readonly by?: number;
  readonly wait?: true;
}

/** By how much a lease is extended unless somebody says otherwise. */
const EXTENSION_MS = 30 * 60_000;

export const sessions: Definition<Options> = {
  usage: 'sessions [ACTION] [WHAT...]',
  group: 'Agents, users, experiments:',
  summary: 'one container per user, with a lease: list, spawn, stop, extend, show',
  ...byAction<Options>('sessions', {
    list: { what: 'all sessions with their health (the default)', takes: ['user', 'all'], act: list },
    spawn: {
      words: 'TEMPLATE --user USER',
      what: 'start a session from a template of the configuration',
      takes: ['user', 'ttl', 'wait'],
      act: spawn,
    },
    stop: { words: 'ID...', what: 'end sessions, in any state, and remove their containers', act: stop },
    extend: { words: 'ID', what: 'extend the lease, as far as the template allows', takes: ['by'], act: extend },
    show: { words: 'ID', what: 'everything about one session, also after it has ended', act: show },
  }),
  description: 'An ID can be shortened to its first characters (at least 4).',
  options: [
    new Option('--user <USER>', 'spawn: for this user; list: only of this user'),
    new Option('-a, --all', 'list: also those that have ended'),
    durationOption('--ttl <TIME>', 'spawn: length of the lease (default: from the template)'),
    new Option('--wait', 'spawn: wait until it is healthy, not only started'),
    durationOption('--by <TIME>', 'extend: by how much (default: 30m)'),
  ],
  examples: [
    ['keepwell sessions', 'who has what, and is it healthy?'],
    ['keepwell sessions spawn web-easy --user ann --ttl 1h --wait', 'a container for ann'],
    ['keepwell sessions extend 5f0c6d1e --by 30m', 'half an hour more'],
    ['keepwell sessions stop 5f0c6d1e', 'end it'],
  ],
};

async function list(call: CliCall, words: readonly string[], { user, all }: Options): Promise<number> {
  if (words.length > 0) throw usage('"sessions list" takes no names; "--user USER" shows those of one user.');
  const { value } = await readNoted(call, (records) => records.sessions({ user, all }));
  call.printJson(value);
  if (value.sessions.length === 0) call.print('no sessions');
  else call.print(...sessionTable(value.sessions, call.paint, Date.now(), call.columns));
  return 0;
}

async function spawn(call: CliCall, words: readonly string[], { user, ttl, wait }: Options): Promise<number> {
  const template = onlyOne(words, 'sessions spawn TEMPLATE --user USER');
  if (user === undefined) throw usage('"sessions spawn" needs to know for whom: --user USER.');
  await awaitDaemon(call);
  const view = await call.client.spawnSession({ template, user, ttlMs: ttl, wait: wait ? 'healthy' : 'started' });
  call.printJson(view);
  call.print(`spawned ${sessionLine(view.session)}`);
  return 0;
}

async function stop(call: CliCall, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) throw usage('"sessions stop" needs at least one ID; "keepwell sessions" shows them.');
  await awaitDaemon(call);
  // All are found before any is stopped: a mistyped one must not leave the work half done.
  const found = await Promise.all(ids.map((id) => call.client.session(id)));
  const whole = [...new Set(found.map((each) => each.session.session_id))];
  const stopped = (await Promise.all(whole.map((id) => call.client.stopSession(id)))).map((each) => each.session);
  call.printJson({ schema_version: 1, sessions: stopped });
  for (const { session_id: id, state } of stopped) {
    if (state === 'ended') call.print(`stopped ${id}`);
    else call.note(`${id} is removed as soon as the Docker Engine can be asked again`);
  }
  return 0;
}

async function extend(call: CliCall, words: readonly string[], { by = EXTENSION_MS }: Options): Promise<number> {
  const id = onlyOne(words, 'sessions extend ID --by 30m');
  await awaitDaemon(call);
  const view = await call.client.extendSession(id, by);
  call.printJson(view);
  call.print(`extended ${sessionLine(view.session)}`);
  return 0;
}

async function show(call: CliCall, words: readonly string[]): Promise<number> {
  const id = onlyOne(words, 'sessions show ID');
  const { value } = await readNoted(call, (records) => records.session(id));
  call.printJson(value);
  call.print(...sessionBlock(value.session, call.paint, Date.now()));
  return 0;
}

function onlyOne([word, ...more]: readonly string[], form: string): string {
  if (word === undefined || more.length > 0) throw usage(`Write: keepwell ${form}`);
  return word;
}

// Sessions for people.

const HEADER = ['ID', 'USER', 'TEMPLATE', 'HEALTH', 'ADDRESS', 'RESTARTS', 'EXPIRES', 'NOTE'] as const;
/** As much of an id as people need to tell them apart. */
const SHORT = 8;
const addressOf = ({ host, port }: SessionView): string => (host === null ? '' : `${host}:${port}`);

function brushOf(paint: Paint, { health_status: health }: SessionView): Brush {
  if (health === 'healthy') return paint.green;
  return health === 'unhealthy' ? paint.red : paint.yellow;
}

function noteOf(session: SessionView): string {
  if (session.end_reason !== null) return `${session.end_reason}: ${session.end_note}`;
  if (session.state === 'spawning') return 'being made';
  return session.health_reason ?? '';
}

export const sessionTable = (
  sessions: readonly SessionView[],
  paint: Paint,
  nowMs: number,
  columns?: number,
): string[] =>
  table(
    HEADER,
    sessions.map((session) => [
      { text: session.session_id.slice(0, SHORT), brush: paint.bold },
      { text: oneLine(session.user_id) },
      { text: oneLine(session.challenge_id) },
      { text: session.health_status, brush: brushOf(paint, session) },
      { text: addressOf(session) },
      { text: String(session.restarts) },
      { text: session.ended_at === null ? relative(session.expires_at, nowMs) : 'ended' },
      { text: oneLine(noteOf(session)) },
    ]),
    columns,
  );

/** One that has just been made or changed. */
export function sessionLine(session: SessionView): string {
  const where = addressOf(session) === '' ? '' : ` at ${addressOf(session)}`;
  const whose = `${oneLine(session.challenge_id)} for ${oneLine(session.user_id)}`;
  return `${session.session_id}: ${whose}${where}, until ${localTime(session.expires_at)}`;
}

export function sessionBlock(session: SessionView, paint: Paint, nowMs: number): string[] {
  const when = (iso: string): string => `${localTime(iso)} (${relative(iso, nowMs)})`;
  const reason = session.health_reason === null ? '' : `: ${oneLine(session.health_reason)}`;
  const rows: (readonly [label: string, text: string])[] = [
    ['user', oneLine(session.user_id)],
    ['template', oneLine(session.challenge_id)],
    ['state', session.state],
    ['health', `${brushOf(paint, session)(session.health_status)}${reason}`],
    ['address', addressOf(session) || '-'],
    ['container', session.container_id ?? '-'],
    ['restarts', String(session.restarts)],
    ['created', when(session.created_at)],
    ['expires', when(session.expires_at)],
  ];
  if (session.ended_at !== null) rows.push(['ended', `${when(session.ended_at)}, ${oneLine(noteOf(session))}`]);
  return [paint.bold(session.session_id), ...rows.map(([label, text]) => `  ${label.padEnd(10)}${text}`)];
}
