/** All hosts of the user's list side by side: what each answered, or in its row why it did not. */
import type { Client } from '../api/client/client.ts';
import type { FleetAnswer } from '../fleet/every-host.ts';
import type { IncidentState } from '../incidents/rules/incident.ts';
import type { IncidentsView } from '../incidents/rules/view.ts';
import type { ComponentView, StatusView } from '../supervision/rules/views.ts';
import { wellbeing } from '../supervision/rules/wellbeing.ts';
import { type CliCall, usage } from './call.ts';
import { INCIDENT_HEADER, incidentCells } from './commands/incidents.ts';
import type { Brush, Paint } from './print/colour.ts';
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
  if (call.host !== null) throw usage('Give --fleet or -H, not both (KEEPWELL_HOST is the same as -H).');
  const { env, uid } = call.world;
  const { askAll: askEach } = await import('../fleet/open.ts');
  return await askEach(ask, { env, uid, timeoutMs: timeoutMs ?? TIMEOUT_MS, signal: call.signal });
}

const STATUS_HEADER = ['HOST', 'NAME', 'STATE', 'HEALTH', 'READY', 'UPTIME', 'RESTARTS', 'NOTE'] as const;

/** 0: every host answered, or with --exit-code: all is well on all of them. */
export async function fleetStatus(call: CliCall, names: readonly string[], options: FleetOptions): Promise<number> {
  const all = await askAll(call, options.timeout, (client) => client.status());
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
