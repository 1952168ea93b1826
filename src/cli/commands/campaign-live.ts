/** A campaign as it goes, on stderr: what the current experiment writes, a line for each result, and on a terminal a bar below. */
import { StringDecoder } from 'node:string_decoder';
import { formatDuration } from '../../base/pure/format.ts';
import { redact, secretValues } from '../../base/pure/redact.ts';
import type { Observed } from '../../campaigns/edges.ts';
import type { CampaignState, Experiment, Request } from '../../campaigns/rules/state.ts';
import {
  type CampaignSummary,
  type CampaignView,
  type ExperimentView,
  type Progress,
  progressOf,
} from '../../campaigns/rules/views.ts';
import { type ExperimentSettings, type ExperimentSpec, settingsOf } from '../../campaigns/spec.ts';
import type { CliCall } from '../call.ts';
import type { Brush, Paint } from '../print/colour.ts';
import { localTime } from '../print/json.ts';
import { sanitiseText } from '../print/sanitise.ts';
import { type Cell, shorten, table } from '../print/table.ts';

const REDRAW_MS = 1_000;
const USUAL_COLUMNS = 80;
/** A line without an end is shown in parts. */
const MAX_LINE = 4_096;

export interface Live extends Observed, Disposable {}

export function liveView({ world, errPaint }: CliCall): Live {
  const { err } = world;
  let experiments: readonly Experiment[] = [];
  let doing = '';
  /** The last of what is said of each step: the same again and again is no news. */
  let told = '';
  let runningSince = 0;
  const decoder = new StringDecoder('utf8');
  let partial = '';

  const draw = (): string => {
    if (!err.isTty || experiments.length === 0) return '';
    const forMs = runningSince === 0 ? 0 : performance.now() - runningSince;
    return barLine(progressOf(experiments, forMs), doing, (err.columns ?? USUAL_COLUMNS) - 1);
  };
  /** The bar is always the last line, without a line break behind it. */
  const print = (lines: readonly string[]): void => {
    const text = lines.map((line) => `${line}\n`).join('');
    err.write(err.isTty ? `\r\u001b[K${text}${draw()}` : text);
  };
  const flush = (): void => {
    if (partial !== '') print([`  ${sanitiseText(partial)}`]);
    partial = '';
  };
  const timer = err.isTty ? setInterval(() => print([]), REDRAW_MS).unref() : null;

  return {
    begins: ({ name, experiments: rows }, spec) => {
      experiments = rows;
      const left = rows.filter((one) => one.state === 'pending' || one.state === 'running').length;
      const services = [...new Set(spec.experiments.map((one) => one.service))];
      print([`${name}: ${left} of ${rows.length} experiments to run, in ${services.join(', ')}`]);
    },
    step: (state, request) => {
      flush();
      const lines = state.experiments.flatMap((now, index) => {
        const before = experiments[index];
        return (before && resultLine(before, now, errPaint)) ?? [];
      });
      experiments = state.experiments;
      runningSince = request.kind === 'run' ? performance.now() : 0;
      doing = wordsFor(state, request);
      const isSaid = request.kind !== 'check-health' && request.kind !== 'finish';
      const isNews = isSaid && doing !== told && !(err.isTty && request.kind === 'run');
      if (isSaid) told = doing;
      print([...lines, ...(isNews ? [errPaint.dim(sanitiseText(doing))] : [])]);
    },
    output: (_experiment, piece) => {
      const lines = `${partial}${decoder.write(piece)}`.split('\n');
      partial = lines.pop() ?? '';
      if (partial.length > MAX_LINE) lines.push(partial);
      if (partial.length > MAX_LINE) partial = '';
      if (lines.length > 0) print(lines.map((line) => `  ${sanitiseText(line.replace(/\r+$/, ''))}`));
    },
    note: (text) => print([sanitiseText(text)]),
    [Symbol.dispose]: () => {
      if (timer !== null) clearInterval(timer);
      experiments = [];
      if (err.isTty) err.write('\r\u001b[K');
    },
  };
}

function wordsFor({ experiments }: CampaignState, request: Request): string {
  switch (request.kind) {
    case 'start-services':
      return `starting ${request.services.join(', ')}`;
    case 'check-health':
      return `looking at ${request.service}`;
    case 'recover':
      return `${request.remedy === 'restart' ? 'restarting' : 'making anew'} ${request.service}: ${request.why}`;
    case 'wait':
      return `waiting ${formatDuration(request.ms)} ${request.why}`;
    case 'run': {
      const { name } = experiments[request.open.position]!;
      const attempt = request.open.number > 1 ? `, attempt ${request.open.number}` : '';
      return `${request.joining ? 'found again: ' : ''}${name}${attempt}`;
    }
    case 'finish':
      return '';
  }
}

// Campaigns in words: the bar, a line for each result, tables, CSV.

const BAR_CELLS = 20;

/** `[#####---------------] 7/30, 1 failed, about 12 min left · llama-fp16`. */
export function barLine({ done, failed, total, leftMs }: Progress, now: string, columns: number): string {
  const over = done + failed;
  const filled = total === 0 ? BAR_CELLS : Math.floor((over / total) * BAR_CELLS);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(BAR_CELLS - filled)}]`;
  const eta = leftMs === null || over === total ? '' : `, about ${formatDuration(leftMs)} left`;
  const line = `${bar} ${over}/${total}${failed > 0 ? `, ${failed} failed` : ''}${eta}`;
  return shorten(now === '' ? line : `${line} · ${sanitiseText(now)}`, columns);
}

/** Said when an attempt is over; null: nothing happened that is worth a line. */
export function resultLine(before: Experiment, now: Experiment, paint: Paint): string | null {
  if (before.state === now.state && before.reason === now.reason) return null;
  const took = now.durationMs === null ? '' : ` after ${formatDuration(now.durationMs)}`;
  const tries = now.attempts > 1 ? ` (attempt ${now.attempts})` : '';
  if (now.state === 'done') return `${paint.green('done')}    ${now.name}${took}${tries}`;
  if (now.state === 'failed') return `${paint.red('failed')}  ${now.name}${took}${tries}: ${now.reason ?? ''}`;
  if (now.state !== 'pending' || now.reason === null) return null;
  const word = now.failures > before.failures ? 'retry' : 'later';
  return `${paint.yellow(word)}   ${now.name}: ${now.reason}`;
}

function brushOf(paint: Paint, state: string): Brush {
  if (state === 'done') return paint.green;
  if (state === 'failed') return paint.red;
  return state === 'pending' ? paint.dim : paint.yellow;
}

const numberCell = (value: number | null): Cell => ({ text: value === null ? '' : String(value) });

export function experimentTable(view: CampaignView, paint: Paint, columns?: number): readonly string[] {
  const rows = view.experiments.map((one): readonly Cell[] => [
    { text: one.name },
    { text: one.service },
    { text: one.state, brush: brushOf(paint, one.state) },
    numberCell(one.attempts),
    numberCell(one.exit_code),
    { text: one.duration_ms === null ? '' : formatDuration(one.duration_ms) },
    { text: sanitiseText(one.reason ?? '').replaceAll('\n', ' ') },
  ]);
  return table(['EXPERIMENT', 'SERVICE', 'STATE', 'ATTEMPTS', 'EXIT', 'TOOK', 'NOTE'], rows, columns);
}

/** `night-run: failed, 28 of 30 done, 2 failed`. */
export function headline({ campaign, state, reason, done, failed, total }: CampaignSummary, paint: Paint): string {
  const open = total - done - failed;
  const parts = [
    `${done} of ${total} done`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(open > 0 ? [`${open} left`] : []),
  ];
  const why = reason === null ? '' : ` (${sanitiseText(reason).replaceAll('\n', ' ')})`;
  return `${campaign}: ${brushOf(paint, state)(state)}, ${parts.join(', ')}${why}`;
}

export function campaignTable(
  campaigns: readonly CampaignSummary[],
  paint: Paint,
  columns?: number,
): readonly string[] {
  const rows = campaigns.map((one): readonly Cell[] => [
    { text: one.campaign },
    { text: one.state, brush: brushOf(paint, one.state) },
    { text: `${one.done}/${one.total}` },
    numberCell(one.failed),
    { text: localTime(one.created_at) },
    { text: sanitiseText(one.file) },
  ]);
  return table(['CAMPAIGN', 'STATE', 'DONE', 'FAILED', 'BEGUN', 'FILE'], rows, columns);
}

const COLUMNS = [
  'name',
  'service',
  'state',
  'attempts',
  'exit_code',
  'duration_ms',
  'reason',
] as const satisfies readonly (keyof ExperimentView)[];

/**
 * One row for each experiment, with a header, as RFC 4180 has it. Then come `config`, and a column `env.NAME` for each variable that
 * one of them sets. `settings` null: the file cannot be read any more with the variables of now, and these columns are missing.
 */
export function campaignCsv(
  { experiments }: CampaignView,
  settings: ReadonlyMap<string, ExperimentSettings> | null,
): string {
  const names = [...new Set([...(settings?.values() ?? [])].flatMap(({ env }) => Object.keys(env)))];
  const more = settings === null ? [] : ['config', ...names.map((name) => `env.${name}`)];
  const lines = experiments.map((one) => {
    const set = settings?.get(one.name);
    const values = settings === null ? [] : [set?.config ?? null, ...names.map((name) => set?.env[name] ?? null)];
    return [...COLUMNS.map((column) => one[column]), ...values].map(csvCell).join(',');
  });
  return `${[[...COLUMNS, ...more].map(csvCell).join(','), ...lines].join('\r\n')}\r\n`;
}

/** One line of `--dry-run`: `gpu-a  pytorch: SEED=1 lem experiment a.yaml --yes`. */
export function plannedLine(planned: ExperimentSpec): string {
  const { name, service, command } = planned;
  const { config, env } = settingsOf(planned);
  const variables = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const isSaid = config === null || command.some((word) => word.includes(config));
  const line = `${name}  ${service}: ${[...variables, ...command].join(' ')}${isSaid ? '' : ` (config ${config})`}`;
  return sanitiseText(redact(line, secretValues(planned.env))).replaceAll('\n', ' ');
}

/** A spreadsheet would take `=…`, `+…`, `-…` and `@…` for a formula. */
function csvCell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const plain = /^[=+\-@]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
