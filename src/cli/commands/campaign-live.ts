/** A campaign as it goes, on stderr: what the current experiment writes, a line for each result, and on a terminal a bar below. */
import { StringDecoder } from 'node:string_decoder';
import { progressOf } from '../../campaigns/rules/eta.ts';
import type { CampaignState, Experiment, Request } from '../../campaigns/rules/state.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { Observed } from '../../campaigns/edges.ts';
import { barLine, resultLine } from '../print/campaign.ts';
import { sanitiseText } from '../print/sanitise.ts';
import type { Session } from '../call.ts';

const REDRAW_MS = 1_000;
const USUAL_COLUMNS = 80;
/** A line without an end is shown in parts. */
const MAX_LINE = 4_096;

export interface Live extends Observed, Disposable {}

export function liveView({ world, errPaint }: Session): Live {
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
