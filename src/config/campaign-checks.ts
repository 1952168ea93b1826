/** What cannot be seen key by key: missing services, names given twice, placeholders that stand for nothing. */
import { nearest } from '../base/pure/suggest.ts';
import { DEFAULTS } from './defaults.ts';
import type { Problems } from './problem.ts';
import { quoted } from './text.ts';
import { locate, type MapNode, type Path } from './tree.ts';
import type { Draft } from './walk.ts';
import { expand, MAX_EXPERIMENTS, sizeOf } from './campaign-expand.ts';
import type { CampaignConfig, ExperimentConfig } from './campaign-shape.ts';

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
