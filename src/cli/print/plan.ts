/** What a reload does, one line per component: the same words before and after it. */
import type { PlanAction, PlanStep } from '../../supervision/rules/plan.ts';
import type { ReloadView } from '../../api/control.ts';
import type { Brush, Paint } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { type Cell, table } from './table.ts';

const HEADER = ['ACTION', 'NAME', 'WHY'] as const;
/** More names than this are only counted: in a large project, what stays as it is is not what anybody looks for. */
const MAX_UNTOUCHED = 12;

/** What is touched first, as a table; then, on one line, what is not. */
export function planLines({ steps, settings }: ReloadView, paint: Paint, columns?: number): string[] {
  const isTouched = ({ action, starts }: PlanStep) => action !== 'unchanged' || starts;
  const touched = steps.filter(isTouched).map((step) => row(step, paint));
  const untouched = steps.filter((step) => !isTouched(step)).map(({ component }) => component);
  return [
    ...(touched.length > 0 ? table(HEADER, touched, columns) : []),
    ...(settings.length > 0
      ? [`for the project as a whole: ${settings.map(settingText).join(', ')}, without a restart`]
      : []),
    ...(untouched.length > 0 ? [`unchanged: ${listed(untouched)}`] : []),
  ];
}

const row = (step: PlanStep, paint: Paint): Cell[] => [
  { text: step.action, brush: brushFor(step.action, paint) },
  { text: sanitise(step.component), brush: paint.bold },
  { text: sanitise(whyText(step)) },
];

/** "because of command, env LOG_LEVEL; also stop, without a restart" */
export function whyText({ action, because, in_place: inPlace, note }: PlanStep): string {
  const caused = because.length === 0 ? [] : [`${action === 'restarted' ? 'because of ' : ''}${because.join(', ')}`];
  const also = because.length === 0 ? '' : 'also ';
  const beside = inPlace.length === 0 ? [] : [`${also}${inPlace.join(', ')}, without a restart`];
  return [...caused, ...beside, ...(note === null ? [] : [note])].join('; ');
}

function brushFor(action: PlanAction, paint: Paint): Brush {
  if (action === 'added') return paint.green;
  if (action === 'removed') return paint.red;
  return action === 'unchanged' ? paint.dim : paint.yellow;
}

const listed = (names: readonly string[]): string =>
  names.length > MAX_UNTOUCHED ? `${names.length} components` : sanitise(names.join(', '));

/** Everything else takes hold at once. */
const settingText = (name: string): string => (name === 'store' ? 'store (another path: with the next daemon)' : name);
