/** A campaign file in, a complete campaign out. The only file of this folder that touches the disk. */
import { dirname, join, resolve } from 'node:path';
import { redact, SECRET_NAME, secretValues } from '../base/pure/redact.ts';
import { nearest } from '../base/pure/suggest.ts';
import { type CampaignSpec, type ExperimentSpec, filled } from '../campaigns/spec.ts';
import { type CampaignConfig, campaignSchema, type ExperimentConfig } from './campaign-shape.ts';
import { DEFAULTS } from './defaults.ts';
import { readDocument } from './document.ts';
import type { Draft } from './draft.ts';
import { DIRECTORY, MISSING, readText, type Source, type Variables, variablesFrom, workingDirectory } from './load.ts';
import { interpolate } from './merge.ts';
import { ConfigError, type ConfigKind, Problems } from './problem.ts';
import { nameFrom } from './readers.ts';
import { quoted } from './text.ts';
import { locate, type MapNode, type Path } from './tree.ts';
import { walkBy } from './walk.ts';
import { CAMPAIGN_PLACE } from './words/feature-words.ts';

const CAMPAIGN: ConfigKind = { what: 'campaign', check: 'keepwell campaign run FILE --dry-run' };

export interface LoadedCampaign {
  readonly spec: CampaignSpec;
  readonly source: Source;
}

interface Surroundings {
  readonly env: Variables;
  /** Only to shorten file names in messages. */
  readonly cwd?: string | null;
}

/** `file`: absolute. Throws a ConfigError with every problem at once. */
export function loadCampaign(file: string, around: Surroundings): LoadedCampaign {
  const read = readText(file);
  if ('text' in read) return loadCampaignFromText({ path: file, text: read.text }, around);
  const problems = new Problems();
  problems.add({ file, line: 1, column: 1 }, [], read.problem);
  throw new ConfigError(problems.sorted([file]), around.cwd ?? workingDirectory(), CAMPAIGN);
}

/** The same from a text that was kept. `.env` beside the file, and variables, are those of now. */
export function loadCampaignFromText(source: Source, { env, cwd = workingDirectory() }: Surroundings): LoadedCampaign {
  const baseDir = dirname(source.path);
  const problems = new Problems();
  const failed = () => new ConfigError(problems.sorted([source.path]), cwd, CAMPAIGN);
  const root = readDocument(source.path, source.text, problems);
  if (!root) throw failed();
  const dotenv = readText(join(baseDir, '.env'));
  const isUnreadable = 'problem' in dotenv && ![MISSING, DIRECTORY].includes(dotenv.problem);
  if (isUnreadable) problems.add({ file: join(baseDir, '.env'), line: 1, column: 1 }, [], dotenv.problem);
  const variables = variablesFrom(env, 'text' in dotenv ? dotenv.text : '');
  const tree = interpolate(root, variables.lookup, problems);
  for (const { line, column, message, hint } of variables.problems())
    problems.add({ file: join(baseDir, '.env'), line, column }, [], message, hint);
  if (variables.problems().length > 0 || isUnreadable) throw failed();
  const spec = resolveCampaign(tree, { absolute: (path) => resolve(baseDir, path), folderOf: dirname }, problems);
  if (!spec) throw failed();
  return { spec, source };
}

// From a tree to a complete campaign: everything is checked and filled in here, and nowhere downstream again. Pure.

/** Null when anything was wrong; then `problems` has all of it. */
export function resolveCampaign(
  root: MapNode,
  paths: { readonly absolute: (path: string) => string; readonly folderOf: (path: string) => string },
  problems: Problems,
): CampaignSpec | null {
  const components = root.entries.get('components');
  if (components && !root.entries.has('campaign')) {
    problems.add(
      components.keyAt,
      ['components'],
      'this is a configuration, not a campaign file',
      'Start it with: keepwell up',
    );
    return null;
  }
  const draft = walkBy<CampaignConfig>(campaignSchema, root, CAMPAIGN_PLACE, problems);
  checkCampaign(draft, root, problems);
  if (problems.count > 0) return null;
  const config = draft as CampaignConfig; // nothing was reported, so nothing is missing
  const { health = {} } = config;
  const composeFile = paths.absolute(config.compose?.file ?? DEFAULTS.campaign.composeFile);
  return {
    name: config.campaign,
    composeFile,
    projectDir:
      config.compose?.project_dir === undefined
        ? paths.folderOf(composeFile)
        : paths.absolute(config.compose.project_dir),
    experiments: expand(config.experiments).map((one) => experimentSpec(one, config)),
    health: {
      gpuMemoryThresholdPct: health.gpu_memory_threshold_pct ?? DEFAULTS.campaign.health.gpuMemoryThresholdPct,
      maxRestarts: health.max_restarts ?? DEFAULTS.campaign.health.maxRestarts,
      everyMs: health.every === undefined || health.every === 'experiment' ? null : health.every,
    },
    coolDownMs: config.cool_down ?? DEFAULTS.campaign.coolDownMs,
    onFailure: config.on_failure ?? DEFAULTS.campaign.onFailure,
    artifacts: (config.artifacts ?? []).map(({ from, to }) => ({ from, to: paths.absolute(to) })),
  };
}

function experimentSpec({ name, service, config, env, entry }: Single, campaign: CampaignConfig): ExperimentSpec {
  const command = entry.command ?? campaign.command ?? DEFAULTS.campaign.command;
  const values = { name, ...(config === null ? {} : { config }) };
  return {
    name,
    service,
    config,
    command: command.map((part) => filled(part, values)),
    env,
    timeoutMs: entry.timeout ?? campaign.timeout ?? DEFAULTS.campaign.timeoutMs,
    retries: entry.retries ?? campaign.retries ?? DEFAULTS.campaign.retries,
  };
}

// What cannot be seen key by key: missing services, names given twice, placeholders that stand for nothing.

const PLACEHOLDERS = ['config', 'name'];

export function checkCampaign(draft: Draft<CampaignConfig>, root: MapNode, problems: Problems): void {
  const add = (path: Path, message: string, hint: string | null = null) =>
    problems.add(locate(root, path), path, message, hint);
  checkCommand(draft.command, ['command'], add);
  draft.experiments?.forEach((experiment, index) => {
    if (experiment) checkExperiment(experiment, ['experiments', index], draft, add);
  });
  if (draft.experiments?.length === 0) add(['experiments'], 'there are no experiments');
  if (problems.count > 0) return;
  const experiments = (draft as CampaignConfig).experiments;
  checkCount(experiments, add);
  if (problems.count > 0) return;
  checkNames(experiments, add);
  checkArtifacts(draft as CampaignConfig, add);
}

type Add = (path: Path, message: string, hint?: string | null) => void;

function checkExperiment(
  experiment: Draft<ExperimentConfig>,
  path: Path,
  draft: Draft<CampaignConfig>,
  add: Add,
): void {
  const { matrix, name } = experiment;
  checkCommand(experiment.command, [...path, 'command'], add);
  if (matrix && name !== undefined)
    add(
      [...path, 'name'],
      'a matrix makes many experiments, which cannot all have this name',
      'Remove it: names are made from the values.',
    );
  for (const key of ['service', 'config'] as const) {
    if (matrix?.[key] && experiment[key] !== undefined)
      add([...path, key], `${key} is given here and in the matrix`, 'Remove one of them.');
  }
  if (!has(experiment, 'service') && !has(matrix, 'service'))
    add(path, 'the service is missing', 'Write: service: pytorch');
  const command = experiment.command ?? draft.command ?? DEFAULTS.campaign.command;
  const needsConfig = command.some((part) => part?.includes('{config}'));
  if (needsConfig && !has(experiment, 'config') && !has(matrix, 'config')) {
    add(
      path,
      'the command needs {config}, and there is no config',
      'Write: config: configs/a.yaml   or give another command',
    );
  }
}

/** Also with a value that was wrong, which has been told already. */
const has = (map: object | undefined, key: string): boolean => map !== undefined && Object.hasOwn(map, key);

function checkCommand(command: readonly (string | undefined)[] | undefined, path: Path, add: Add): void {
  if (command?.length === 0) add(path, 'the command is empty', 'Write: command: [python, train.py, "{config}"]');
  command?.forEach((part, index) => {
    for (const [, word] of part?.matchAll(/\{(\w+)\}/g) ?? []) {
      const meant = PLACEHOLDERS.includes(word!) ? null : nearest(word!, PLACEHOLDERS);
      if (meant !== null) add([...path, index], `there is no placeholder {${word}}`, `Did you mean {${meant}}?`);
    }
  });
}

function checkCount(experiments: readonly ExperimentConfig[], add: Add): void {
  experiments.forEach((one, index) => {
    if (sizeOf(one) === 0)
      add(['experiments', index, 'matrix'], 'one of its lists is empty, so it makes no experiment');
  });
  const count = experiments.reduce((sum, one) => sum + sizeOf(one), 0);
  if (count > MAX_EXPERIMENTS)
    add(['experiments'], `these are ${count} experiments, and ${MAX_EXPERIMENTS} are allowed`, 'Split the campaign.');
}

function checkNames(experiments: readonly ExperimentConfig[], add: Add): void {
  const first = new Map<string, number>();
  for (const { name, isNamed, index } of expand(experiments)) {
    if (!isNamed) continue;
    if (first.has(name))
      add(['experiments', index, 'name'], `${quoted(name)} is the name of another experiment already`);
    first.set(name, index);
  }
}

/** The second experiment would overwrite what the first one left. */
function checkArtifacts({ artifacts = [], experiments }: CampaignConfig, add: Add): void {
  if (expand(experiments).length < 2) return;
  artifacts.forEach(({ to }, index) => {
    if (!to.includes('{name}'))
      add(
        ['artifacts', index, 'to'],
        'all experiments would write to the same place',
        `Write: to: ${to.replace(/\/+$/, '')}/{name}`,
      );
  });
}

// From what was written to single experiments: each matrix multiplied out, each name derived where none was given.

export interface Single {
  /** Of the entry in the file. */
  readonly index: number;
  readonly name: string;
  readonly isNamed: boolean;
  readonly service: string;
  readonly config: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly entry: ExperimentConfig;
}

/** More is a slip: nobody waits for so many. */
export const MAX_EXPERIMENTS = 10_000;

/** How many this entry would make, without making them. */
export function sizeOf({ matrix }: Pick<ExperimentConfig, 'matrix'>): number {
  if (!matrix) return 1;
  const lengths = [
    matrix.service?.length ?? 1,
    matrix.config?.length ?? 1,
    ...Object.values(matrix.env ?? {}).map((values) => values.length),
  ];
  return lengths.reduce((product, length) => product * length, 1);
}

/** Nothing in there may be wrong any more. The order is that of the file; in a matrix the first key changes slowest. */
export function expand(experiments: readonly ExperimentConfig[]): readonly Single[] {
  const singles = experiments.flatMap((entry, index) =>
    entry.matrix ? multiplied(entry, index) : [single(entry, index)],
  );
  const taken = new Set(singles.filter(({ isNamed }) => isNamed).map(({ name }) => name));
  return singles.map((one) => (one.isNamed ? one : { ...one, name: free(one.name, taken) }));
}

function single(entry: ExperimentConfig, index: number): Single {
  const { name, service = '', config = null, env = {} } = entry;
  return {
    index,
    name: name ?? derived(service, config, env),
    isNamed: name !== undefined,
    service,
    config,
    env,
    entry,
  };
}

function multiplied(entry: ExperimentConfig, index: number): readonly Single[] {
  const { service = [entry.service ?? ''], config = [entry.config ?? null], env = {} } = entry.matrix ?? {};
  const variables = Object.entries(env).reduce<readonly Readonly<Record<string, string>>[]>(
    (sofar, [key, values]) => sofar.flatMap((one) => values.map((value) => ({ ...one, [key]: value }))),
    [{}],
  );
  return service.flatMap((oneService) =>
    config.flatMap((oneConfig) =>
      variables.map((one) => ({
        index,
        name: derived(oneService, oneConfig, { ...entry.env, ...one }, env),
        isNamed: false,
        service: oneService,
        config: oneConfig,
        env: { ...entry.env, ...one },
        entry,
      })),
    ),
  );
}

const ROOM_FOR_NUMBER = 56;

/**
 * `pytorch-a` from the service pytorch and configs/a.yaml; values of the matrix follow. Of a secret it is said which one of its list it
 * is: names are in events, tables, tickets and paths.
 */
function derived(
  service: string,
  config: string | null,
  env: Readonly<Record<string, string>>,
  lists: Readonly<Record<string, readonly string[]>> = {},
): string {
  const known = secretValues(env);
  const isSecret = (key: string, value: string) => SECRET_NAME.test(key) || redact(value, known) !== value;
  const values = Object.entries(lists).map(([key, list]) => {
    const value = env[key]!;
    return isSecret(key, value) ? `${key}-${list.indexOf(value) + 1}` : value;
  });
  const file = (config === null ? null : redact(config, known))
    ?.split('/')
    .at(-1)
    ?.replace(/\.[A-Za-z0-9]{1,5}$/, '');
  return nameFrom([service, ...(file ? [file] : []), ...values].join('-')).slice(0, ROOM_FOR_NUMBER) || 'experiment';
}

function free(name: string, taken: Set<string>): string {
  let candidate = name;
  for (let number = 2; taken.has(candidate); number += 1) candidate = `${name}-${number}`;
  taken.add(candidate);
  return candidate;
}
