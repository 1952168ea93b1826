/** From a tree to a complete campaign: everything is checked and filled in here, and nowhere downstream again. Pure. */
import { type CampaignSpec, type ExperimentSpec, filled } from '../campaigns/spec.ts';
import { DEFAULTS } from './defaults.ts';
import { CAMPAIGN_PLACE } from './words/campaign-words.ts';
import type { Problems } from './problem.ts';
import type { MapNode } from './tree.ts';
import { walkBy } from './walk.ts';
import { checkCampaign } from './campaign-checks.ts';
import { expand, type Single } from './campaign-expand.ts';
import { type CampaignConfig, campaignSchema } from './campaign-shape.ts';

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
