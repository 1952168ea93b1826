/** keepwell backoff: the schedule that a restart policy gives, before it is needed. */
import { InvalidArgumentError, Option } from 'commander';
import { formatDuration } from '../../base/pure/format.ts';
import { durationHint, parseDuration } from '../../config/duration.ts';
import { NO_PROBES } from '../../supervision/rules/health/probe.ts';
import type { LifecyclePolicy } from '../../supervision/rules/lifecycle/state.ts';
import type { RestartSpec } from '../../supervision/spec.ts';
import { type CliCall, usage } from '../call.ts';
import { countOption, type Definition, durationOption } from '../define.ts';
import { noSuch } from '../targets.ts';

interface Options {
  readonly initial?: number;
  readonly factor?: number;
  readonly max?: number;
  readonly jitter?: number;
  readonly resetAfter?: number;
  readonly limit?: number;
  readonly within?: number;
  readonly retry?: number | 'never';
  readonly uptime: number;
}

/** As in the configuration. */
const MAX_FACTOR = 100;
const MAX_RESTARTS = 1_000_000;

export const backoff: Definition<Options> = {
  usage: 'backoff [NAME]',
  onlyHere:
    'Log in there (ssh) and run it in the folder of the project, for the policy of a component there: it reads the configuration.',
  group: 'Configure:',
  summary: 'how long a restart policy waits before each restart, and when it gives up',
  description:
    'Shows the policy of a component, or the defaults without a name; options override single values. Nothing is started: the table comes from the same rules that decide about real restarts.',
  options: [
    durationOption('--initial <TIME>', 'the wait before the first restart'),
    numberOption('--factor <NUMBER>', 'each further wait is this many times longer', { min: 1, max: MAX_FACTOR }),
    durationOption('--max <TIME>', 'no wait is longer than this'),
    numberOption('--jitter <RATIO>', 'shorten each wait by a random part, up to this ratio', { min: 0, max: 1 }),
    durationOption('--reset-after <TIME>', 'after a run that was healthy for this long, the waits start over'),
    countOption('--limit <N>', 'restarts allowed before it gives up', { min: 0, max: MAX_RESTARTS }),
    durationOption('--within <TIME>', 'the window in which restarts are counted'),
    retryOption('--retry <TIME|never>', 'after giving up, try once more each time this has passed'),
    durationOption('--uptime <TIME>', 'how long each run lives before it fails', '0s'),
  ],
  examples: [
    ['keepwell backoff', 'the defaults'],
    ['keepwell backoff api', 'the policy of api'],
    ['keepwell backoff api --uptime 30s', 'the same, if each run lives for 30 s'],
    ['keepwell backoff --initial 100ms --factor 1.5 --limit 5 --retry never', 'try a policy before writing it'],
  ],
  handler: async (call, [name], options) => {
    const policy = withOptions(name === undefined ? await byDefault(call) : await policyOf(call, name), options);
    const { backoffReport } = await import('./backoff-report.ts');
    const report = backoffReport({ name: name ?? null, policy, uptimeMs: options.uptime });
    call.printJson(report.view);
    call.print(...report.lines(call.paint, call.columns));
    return 0;
  },
};

async function policyOf({ project, world }: CliCall, name: string): Promise<LifecyclePolicy> {
  const { loadConfig } = await import('../../config/load.ts');
  const { components } = loadConfig({ ...project, env: world.env, cwd: world.cwd });
  const found = components.find((component) => component.name === name);
  if (found) return found;
  throw noSuch(
    name,
    components.map((component) => component.name),
  );
}

async function byDefault({ files }: CliCall): Promise<LifecyclePolicy> {
  if (files.length > 0) throw usage('Name the component of that file: "keepwell backoff NAME -f FILE".');
  const { DEFAULTS } = await import('../../config/defaults.ts');
  return {
    driver: { kind: 'process', command: [], shell: false, cwd: '/', env: {}, envFiles: [] },
    restart: { ...DEFAULTS.restart, neverOn: [] },
    stop: DEFAULTS.stop,
    minUptimeMs: DEFAULTS.minUptimeMs.always,
    probes: NO_PROBES,
  };
}

function withOptions(policy: LifecyclePolicy, options: Options): LifecyclePolicy {
  const { restart } = policy;
  const { backoff: waits, limit } = restart;
  const { retry } = options;
  const given: RestartSpec = {
    ...restart,
    backoff: {
      initialMs: options.initial ?? waits.initialMs,
      factor: options.factor ?? waits.factor,
      maxMs: options.max ?? waits.maxMs,
      jitterRatio: options.jitter ?? waits.jitterRatio,
      resetAfterMs: options.resetAfter ?? waits.resetAfterMs,
    },
    limit: {
      max: options.limit ?? limit.max,
      withinMs: options.within ?? limit.withinMs,
      retryMs: retry === 'never' ? null : (retry ?? limit.retryMs),
    },
  };
  const { initialMs, maxMs } = given.backoff;
  if (maxMs < initialMs) {
    throw usage(
      `The longest wait, ${formatDuration(maxMs)}, is less than the first one, ${formatDuration(initialMs)}. Raise --max, or lower --initial.`,
    );
  }
  if (given.limit.withinMs === 0) throw usage('--within must be longer than 0s.');
  return { ...policy, restart: given };
}

function numberOption(flags: string, what: string, { min, max }: { min: number; max: number }): Option {
  return new Option(flags, what).argParser((text: string) => {
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
  });
}

function retryOption(flags: string, what: string): Option {
  return new Option(flags, what).argParser((text: string) => {
    if (text === 'never') return text;
    const ms = parseDuration(text);
    if (ms !== null && ms > 0) return ms;
    const hint = ms === 0 ? 'It must be longer than 0s.' : durationHint(text);
    throw new InvalidArgumentError(`${hint} Or write never.`);
  });
}
