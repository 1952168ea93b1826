/** A campaign file as a schema: names, kinds, help texts. */
import { z } from 'zod';
import { readService, SERVICE_PATTERN } from './compose.ts';
import { DEFAULTS } from './defaults.ts';
import { inner, type KeyRow, rows } from './describe.ts';
import { durationText } from './duration.ts';
import {
  duration,
  envName,
  leaf,
  name,
  number,
  oneOf,
  optional,
  path,
  positiveDuration,
  text,
  version,
} from './leaves.ts';
import { type Reader, readDuration, readText, refuse } from './readers.ts';

const { campaign } = DEFAULTS;

const service = leaf(readService, 'compose service', { type: 'string', pattern: SERVICE_PATTERN });

const readEvery: Reader<number | 'experiment'> = (node) => {
  if (node.kind === 'scalar' && node.value === 'experiment') return { value: 'experiment' };
  const read = readDuration({ zero: false })(node);
  return 'value' in read ? read : refuse(read.message, read.hint ?? 'Write "experiment", or a duration such as 30s.');
};

const readInside: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || read.value.startsWith('/')) return read;
  return refuse('must be an absolute path in the container', 'For example: /app/results');
};

const commandHelp = {
  description:
    'What is run in the container, one list item each. `{config}` and `{name}` are filled in and stay inside their item.',
  defaultsTo: campaign.command,
  example: ['python', 'train.py', '--config', '{config}'],
};
const retriesHelp = {
  description: 'How often a failed experiment is retried.',
  defaultsTo: campaign.retries,
  example: 0,
};
const timeoutHelp = {
  description: 'How long one attempt may take. Then it is ended and counts as failed.',
  defaultsTo: durationText(campaign.timeoutMs),
  example: '30m',
};
const asCampaign = { defaultNote: 'that of the campaign' };
const retries = number({ min: 0, max: 100, whole: true });

const experimentSchema = z.strictObject({
  name: optional(name, {
    description: 'What it is called.',
    defaultNote: 'made from service and config',
    example: 'llama-fp16',
  }),
  service: optional(service, {
    description: 'The compose service it runs in.',
    defaultNote: '**required**, here or in its matrix',
    example: 'pytorch',
  }),
  config: optional(text, {
    description: 'What `{config}` stands for: usually the path of a file in the container.',
    defaultNote: 'none',
    example: 'configs/llama-fp16.yaml',
  }),
  env: optional(z.record(envName, text), {
    description: 'Variables for its command.',
    defaultsTo: {},
    example: { SEED: '1' },
  }),
  command: optional(z.array(text), { ...commandHelp, ...asCampaign }),
  timeout: optional(positiveDuration, { ...timeoutHelp, ...asCampaign }),
  retries: optional(retries, { ...retriesHelp, ...asCampaign }),
  matrix: optional(
    z.strictObject({
      service: optional(z.array(service), {
        description: 'Each of these services.',
        defaultNote: 'that of the experiment',
        example: ['pytorch', 'vllm'],
      }),
      config: optional(z.array(text), {
        description: 'Each of these configs.',
        defaultNote: 'that of the experiment',
        example: ['configs/a.yaml'],
      }),
      env: optional(z.record(envName, z.array(text)), {
        description: 'Each value of these variables.',
        defaultsTo: {},
        example: { SEED: ['1', '2'] },
      }),
    }),
    { description: 'Instead of one experiment: one for each combination of these values.', defaultNote: 'none' },
  ),
});

export const campaignSchema = z.strictObject({
  version: optional(version, { description: 'Of this format.', defaultsTo: 1 }),
  campaign: name.meta({ description: 'What the campaign is called.', example: 'night-run' }),
  compose: optional(
    z.strictObject({
      file: optional(path, {
        description: 'The compose file, relative to the campaign file.',
        defaultsTo: campaign.composeFile,
        example: 'docker-compose.gpu.yml',
      }),
      project_dir: optional(path, {
        description: 'What paths in the compose file are relative to.',
        defaultNote: 'the folder of the compose file',
        example: '.',
      }),
    }),
    { description: 'Where the services are.', defaultsTo: {} },
  ),
  command: optional(z.array(text), commandHelp),
  experiments: z.array(experimentSchema).meta({ description: 'What is run, in this order.' }),
  retries: optional(retries, retriesHelp),
  timeout: optional(positiveDuration, timeoutHelp),
  health: optional(
    z.strictObject({
      gpu_memory_threshold_pct: optional(number({ min: 1, max: 100 }), {
        description: 'A service is restarted before an experiment if one of its GPUs uses more memory than this.',
        defaultsTo: campaign.health.gpuMemoryThresholdPct,
        example: 80,
      }),
      max_restarts: optional(number({ min: 0, max: 1_000, whole: true }), {
        description: 'How often each service may be restarted. After that, nothing more is run in it.',
        defaultsTo: campaign.health.maxRestarts,
        example: 5,
      }),
      every: optional(leaf(readEvery, '`experiment` or duration', { type: 'string' }), {
        description:
          'When services are checked: before each experiment, or also while it runs, at this interval. GPU memory is checked only before an experiment.',
        defaultsTo: 'experiment',
        example: '30s',
      }),
    }),
    { description: 'What makes a service unfit for the next experiment.', defaultsTo: {} },
  ),
  cool_down: optional(duration, {
    description: 'How long to wait after the restart of a service before it is checked again.',
    defaultsTo: durationText(campaign.coolDownMs),
    example: '30s',
  }),
  on_failure: optional(oneOf(['continue', 'stop'], { ignore: 'continue', abort: 'stop', fail: 'stop', halt: 'stop' }), {
    description: 'What to do when an experiment has failed and no retries are left.',
    defaultsTo: campaign.onFailure,
    example: 'stop',
  }),
  artifacts: optional(
    z.array(
      z.strictObject({
        from: leaf(readInside, 'absolute path in the container', { type: 'string', pattern: '^/|\\$\\{' }).meta({
          description: 'A file or folder in the container.',
          example: '/app/results',
        }),
        to: path.meta({
          description: 'The folder on this machine, relative to the campaign file, into which its content goes.',
          example: 'results/{name}',
        }),
      }),
    ),
    {
      description: 'What is copied out of the container after each attempt. `{name}` is the experiment.',
      defaultsTo: [],
    },
  ),
});

export type CampaignConfig = z.infer<typeof campaignSchema>;
export type ExperimentConfig = CampaignConfig['experiments'][number];

// Every key of a campaign file as a row for the reference page, those of the items of its lists included.

export function describeCampaign(): readonly KeyRow[] {
  const lists = Object.entries(campaignSchema.shape).flatMap(([key, field]) => {
    const list = inner(field);
    return list instanceof z.ZodArray ? rows(list.element as z.ZodType, `${key}[].`) : [];
  });
  return [...rows(campaignSchema, ''), ...lists];
}
