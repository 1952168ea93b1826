/** keepwell reload: apply the configuration as it is now, touching only what changed; --dry-run only says what that would be. */
import { Option } from 'commander';
import type { ReloadView } from '../../api/control.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { PlanAction, PlanStep } from '../../supervision/rules/plan.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';
import { awaitAction } from '../await-action.ts';
import { awaitDaemon } from '../await-daemon.ts';
import type { CliCall } from '../call.ts';
import { daemonIdentity } from '../daemon-end.ts';
import { type Definition, durationOption } from '../define.ts';
import type { Brush, Paint } from '../print/colour.ts';
import { sanitise } from '../print/sanitise.ts';
import { type Cell, table } from '../print/table.ts';

interface Options {
  readonly dryRun?: true;
  readonly wait: boolean;
  readonly timeout: number;
}

export const reload: Definition<Options> = {
  usage: 'reload',
  group: 'Start, stop, run:',
  summary: 'apply an edited configuration to what changed, and to nothing else',
  description:
    'New components are started, removed ones stopped, and changed ones restarted if the change concerns their running process or container. ' +
    'The configuration is checked first; if it has a mistake, nothing is touched (exit 2). SIGHUP to the daemon does the same. ' +
    'Variables come from the environment that the daemon was started with. Components stopped by hand stay stopped.',
  options: [
    new Option('-n, --dry-run', 'only print what would be done, and why'),
    new Option('--no-wait', 'do not wait until started components are ready'),
    durationOption('--timeout <TIME>', 'how long to wait (then exit 5)', '2m'),
  ],
  examples: [
    ['keepwell reload --dry-run', 'what would change?'],
    ['keepwell reload', 'apply it, and wait until what was restarted is ready'],
    ['keepwell reload -n -o json | jq .restarted', 'what would be restarted, for scripts'],
  ],
  handler: async (call, _args, { dryRun = false, wait, timeout }) => {
    await awaitDaemon(call);
    refuseOtherFiles(call);
    const { components: before } = await call.client.status();
    const reloaded = await call.client.reload({ dryRun });
    tell(call, reloaded);
    if (wait && !dryRun) await untilDone(call, reloaded, before, timeout);
    return 0;
  },
};

/** The daemon reads the files it was started with; -f is there to be sure that these are the ones that are meant. */
function refuseOtherFiles(call: CliCall): void {
  if (call.files.length === 0) return;
  const running = daemonIdentity(call)?.files;
  const asked = call.project.files;
  if (running === undefined || running.join('\n') === asked.join('\n')) return;
  throw new AppError('CONFIG_FILES_DIFFER', { running: running.join(', '), asked: asked.join(', ') });
}

function tell(call: CliCall, reloaded: ReloadView): void {
  call.printJson(reloaded);
  call.print(...planLines(reloaded, call.paint, call.columns));
  if (reloaded.steps.length === 0) call.print('there are no components');
  if (reloaded.dry_run) call.note('nothing was done: this is what "keepwell reload" would do now');
}

/** The restarted ones must have a new run, the others must only be ready; the removed ones must be gone. */
export async function untilDone(
  call: CliCall,
  { steps, restarted, removed }: ReloadView,
  before: readonly ComponentView[],
  timeoutMs: number,
): Promise<void> {
  const until = performance.now() + timeoutMs;
  const started = steps.filter(({ starts }) => starts).map(({ component }) => component);
  const awaited = [
    { action: 'restart', names: restarted },
    { action: 'up', names: started },
    { action: 'stop', names: removed },
  ] as const;
  for (const { action, names } of awaited) {
    if (names.length === 0) continue;
    const leftMs = Math.max(0, until - performance.now());
    const { problem } = await awaitAction(call, { action, names, before, timeoutMs: leftMs });
    if (problem) throw problem;
  }
}

// What a reload does, one line per component: the same words before and after it.

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
