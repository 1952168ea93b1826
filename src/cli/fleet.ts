/**
 * All hosts side by side: what each answered, or in its row why it did not. Where the project has `store.fleet`, the database that its hosts
 * share answers for all of them; otherwise each host of the user's list is asked by ssh.
 */
import { readFileSync } from 'node:fs';
import type { Client } from '../api/client/client.ts';
import { AppError } from '../base/pure/errors.ts';
import type { FleetAnswer } from '../fleet/every-host.ts';
import type { CrashFilter, FleetIncident, FleetReader } from '../fleet/store/read.ts';
import type { IncidentState } from '../incidents/rules/incident.ts';
import type { IncidentsView } from '../incidents/rules/view.ts';
import type { ComponentView, StatusView } from '../supervision/rules/views.ts';
import { wellbeing } from '../supervision/rules/wellbeing.ts';
import { type CliCall, usage } from './call.ts';
import { CRASH_HEADER, crashCells } from './commands/crashes.ts';
import { INCIDENT_HEADER, incidentCells } from './commands/incidents.ts';
import type { Brush, Paint } from './print/colour.ts';
import { relative } from './print/json.ts';
import { oneLine, sanitise } from './print/sanitise.ts';
import { noteOf, readyOf, uptimeOf } from './print/status.ts';
import { type Cell, table } from './print/table.ts';
import { matches, noSuch } from './targets.ts';

/** A machine that needs longer is not well, and nobody wants to wait for it. */
const TIMEOUT_MS = 10_000;
const EXIT_SICK = 1;
const EXIT_DOWN = 3;

export interface FleetOptions {
  /** For each host. */
  readonly timeout?: number | undefined;
  readonly exitCode?: boolean | undefined;
}

async function askAll<T>(
  call: CliCall,
  timeoutMs: number | undefined,
  ask: (client: Client) => Promise<T>,
): Promise<readonly FleetAnswer<T>[]> {
  const { env, uid } = call.world;
  const { askAll: askEach } = await import('../fleet/open.ts');
  return await askEach(ask, { env, uid, timeoutMs: timeoutMs ?? TIMEOUT_MS, signal: call.signal });
}

/** Null: the project shares with nobody, or there is none here. */
async function fleetStore(call: CliCall, timeoutMs: number | undefined) {
  if (call.host !== null) throw usage('Give --fleet or -H, not both (KEEPWELL_HOST is the same as -H).');
  const files = filesHere(call);
  if (!files.some(mayName)) return null;
  const { env, cwd } = call.world;
  const { loadConfig } = await import('../config/load.ts');
  const { fleet: url } = loadConfig({ files, env, cwd }).store;
  if (url === null) return null;
  const { readFleet } = await import('../fleet/store/read.ts');
  return <T>(ask: (reader: FleetReader) => Promise<T>) => readFleet({ url, timeoutMs: timeoutMs ?? TIMEOUT_MS }, ask);
}

/** None where there is no project. */
function filesHere(call: CliCall): readonly string[] {
  try {
    return call.project.files;
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFIG_NOT_FOUND') return [];
    throw error;
  }
}

/** A configuration that has nothing to do with it need not be right, or there. */
function mayName(file: string): boolean {
  try {
    return /\bfleet\b/.test(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}

const STATUS_HEADER = ['HOST', 'NAME', 'STATE', 'HEALTH', 'READY', 'UPTIME', 'RESTARTS', 'NOTE'] as const;

/** 0: every host answered, or with --exit-code: all is well on all of them. */
export async function fleetStatus(call: CliCall, names: readonly string[], options: FleetOptions): Promise<number> {
  const store = await fleetStore(call, options.timeout);
  const all = store
    ? await store((reader) => reader.status())
    : await askAll(call, options.timeout, (client) => client.status());
  if (all.length === 0) call.note(NOBODY_YET);
  const answers = names.length === 0 ? all : chosen(all, names);
  call.printJson({
    schema_version: 1,
    hosts: answers.map(({ host, value, error }) => ({ host, status: value, error })),
  });
  call.print(
    ...table(
      STATUS_HEADER,
      answers.flatMap((answer) => statusRows(answer, call.paint)),
      call.columns,
    ),
  );
  return options.exitCode ? worst(answers) : exitCodeOf(answers);
}

/** A name that fits nothing on any of those that answered was mistyped. */
function chosen(all: readonly FleetAnswer<StatusView>[], patterns: readonly string[]): FleetAnswer<StatusView>[] {
  const known = [...new Set(all.flatMap(({ value }) => value?.components.map(({ name }) => name) ?? []))];
  const strange = patterns.find((pattern) => !known.some((name) => matches(pattern, name)));
  if (strange !== undefined && all.every(({ value }) => value !== null)) throw noSuch(strange, known);
  const isMeant = ({ name }: ComponentView) => patterns.some((pattern) => matches(pattern, name));
  return all.flatMap(({ value, ...rest }): FleetAnswer<StatusView>[] => {
    if (value === null) return [{ ...rest, value }];
    const components = value.components.filter(isMeant);
    return components.length === 0 ? [] : [{ ...rest, value: { ...value, components } }];
  });
}

function statusRows(answer: FleetAnswer<StatusView>, paint: Paint): readonly Cell[][] {
  const { value } = answer;
  if (value === null) return [silentRow(answer, paint, STATUS_HEADER.length)];
  const host = hostCell(answer, paint);
  if (value.components.length === 0) return [[host, { text: '' }, { text: 'no components', brush: paint.dim }]];
  return value.components.map((view) => [
    host,
    { text: view.name, brush: paint.bold },
    { text: view.state, brush: brushOf(view, paint) },
    { text: view.health },
    { text: readyOf(view) },
    { text: uptimeOf(view) },
    { text: String(view.restarts) },
    { text: oneLine(noteOf(view)) },
  ]);
}

const hostCell = ({ host }: FleetAnswer<unknown>, paint: Paint): Cell => ({ text: sanitise(host), brush: paint.cyan });

function brushOf(view: ComponentView, paint: Paint): Brush {
  const { kind } = wellbeing(view);
  return kind === 'sick' ? paint.red : kind === 'down' ? paint.yellow : paint.green;
}

/** The state is in the third column of both tables, and what there is to say in the last. */
function silentRow(answer: FleetAnswer<unknown>, paint: Paint, columns: number): Cell[] {
  const state: Cell = { text: isDown(answer) ? 'no daemon' : 'no answer', brush: paint.red };
  const middle = Array.from({ length: columns - 4 }, (): Cell => ({ text: '' }));
  return [hostCell(answer, paint), { text: '' }, state, ...middle, { text: oneLine(answer.error?.message ?? '') }];
}

const NOBODY_YET = 'no host has told the fleet store anything yet';

const isDown = ({ error }: FleetAnswer<unknown>): boolean => error?.code === 'HOST_NO_DAEMON';

/** A part of the answer is missing when one of them did not give its own. */
const exitCodeOf = (answers: readonly FleetAnswer<unknown>[]): number =>
  answers.every(({ value }) => value !== null) ? 0 : EXIT_SICK;

function worst(answers: readonly FleetAnswer<StatusView>[]): number {
  const kinds = new Set(
    answers.flatMap((answer) =>
      answer.value === null
        ? [isDown(answer) ? 'down' : 'sick']
        : answer.value.components.map((view) => wellbeing(view).kind),
    ),
  );
  if (kinds.has('sick')) return EXIT_SICK;
  return kinds.has('down') ? EXIT_DOWN : 0;
}

/** 0: every host answered. */
export async function fleetIncidents(
  call: CliCall,
  state: IncidentState | 'all',
  timeoutMs: number | undefined,
): Promise<number> {
  const store = await fleetStore(call, timeoutMs);
  if (store) return sharedIncidents(call, state, await store((reader) => reader.incidents(state)));
  const answers = await askAll(call, timeoutMs, (client) => client.incidents({ state }));
  call.printJson({
    schema_version: 1,
    hosts: answers.map(({ host, value, error }) => ({ host, incidents: value?.incidents ?? null, error })),
  });
  const now = Date.now();
  const header = ['HOST', ...INCIDENT_HEADER];
  const rows = answers.flatMap((answer) => incidentRows(answer, call.paint, now, header.length));
  if (rows.length > 0) call.print(...table(header, rows, call.columns));
  else
    call.print(
      `no ${state === 'open' ? 'open ' : ''}incidents on ${answers.length === 1 ? '1 host' : `${answers.length} hosts`}`,
    );
  return exitCodeOf(answers);
}

function incidentRows(answer: FleetAnswer<IncidentsView>, paint: Paint, now: number, columns: number): Cell[][] {
  if (answer.value === null) return [silentRow(answer, paint, columns)];
  return answer.value.incidents.map((incident) => [hostCell(answer, paint), ...incidentCells(incident, paint, now)]);
}

const SHARED_HEADER = ['NUMBER', 'STATE', 'COUNT', 'LAST', 'TICKET', 'HOSTS', 'WHAT'] as const;
/** More are counted: the line is about the cause. */
const MAX_NAMED = 3;

/** One line for each problem, on however many hosts. */
function sharedIncidents(call: CliCall, state: IncidentState | 'all', incidents: readonly FleetIncident[]): number {
  call.printJson({ schema_version: 1, incidents });
  const now = Date.now();
  const rows = incidents.map(({ id, state: its, count, last_at, ticket, hosts, title }): Cell[] => [
    { text: String(id), brush: call.paint.bold },
    { text: its, brush: its === 'open' ? call.paint.red : call.paint.dim },
    { text: String(count) },
    { text: relative(last_at, now) },
    { text: ticket === null ? '-' : sanitise(ticket.address ?? `${ticket.number} on ${ticket.host}`) },
    { text: sanitise(someOf(hosts)), brush: call.paint.cyan },
    { text: oneLine(title) },
  ]);
  if (rows.length > 0) call.print(...table(SHARED_HEADER, rows, call.columns));
  else call.print(`no ${state === 'all' ? '' : `${state} `}incidents`);
  return 0;
}

const someOf = (names: readonly string[]): string =>
  names.length === 0
    ? '-'
    : `${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ` +${names.length - MAX_NAMED}` : ''}`;

/** 0: every host answered, or the database for all of them. */
export async function fleetCrashes(call: CliCall, filter: CrashFilter, timeoutMs: number | undefined): Promise<number> {
  const store = await fleetStore(call, timeoutMs);
  const answers = store ? [] : await askAll(call, timeoutMs, (client) => client.crashes(filter));
  const crashes = store
    ? await store((reader) => reader.crashes(filter))
    : answers
        .flatMap(({ host, value }) => (value?.crashes ?? []).map((crash) => ({ ...crash, host })))
        .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
        .slice(0, filter.limit);
  const silent = answers.filter(({ value }) => value === null);
  call.printJson({ schema_version: 1, crashes, silent: silent.map(({ host, error }) => ({ host, error })) });
  for (const { host, error } of silent) call.note(`${sanitise(host)}: ${oneLine(error?.message ?? '')}`);
  const rows = crashes.map((crash): Cell[] => [
    { text: sanitise(crash.host), brush: call.paint.cyan },
    ...crashCells(crash, call.paint),
  ]);
  if (rows.length > 0) call.print(...table(['HOST', ...CRASH_HEADER], rows, call.columns));
  else call.print('no crashes on record');
  return exitCodeOf(answers);
}
