/** Campaigns for programs: the same code that `keepwell campaign run` and `resume` call. */
import { resolve } from 'node:path';
import type { CampaignView } from '../campaigns/rules/views.ts';
import type { CampaignService } from '../campaigns/service.ts';

export interface CampaignOptions {
  /** Leave the services up at the end. */
  readonly keep?: boolean;
  /** Ends the current experiment and removes the services; the campaign can be resumed. */
  readonly signal?: AbortSignal;
  /** Where the Docker Engine listens, as `unix:///path/docker.sock`. Default: as the docker command finds it. */
  readonly docker?: string;
  /** A piece of what the current experiment writes. */
  readonly onOutput?: (experiment: string, piece: Buffer) => void;
  /** A sentence about something that people should know: a service that did not start, an artifact that is missing. */
  readonly onNote?: (text: string) => void;
}

export interface RunCampaignOptions extends CampaignOptions {
  /** Another name than that in the file. */
  readonly name?: string;
  /** Only these experiments. Default: all. */
  readonly only?: readonly string[];
}

export interface ResumeCampaignOptions extends CampaignOptions {
  /** Where the campaign was run. Default: the working directory. */
  readonly cwd?: string;
}

/** What it came to. */
export interface CampaignOutcome extends CampaignView {
  /** What of its services could not be removed; empty: nothing is left, or `keep` was given. */
  readonly left: readonly string[];
}

const NEVER = new AbortController().signal;

/**
 * Runs the campaign of this file to its end, whatever its experiments come to; `state` of what it resolves with tells. Rejects when it
 * could not begin: CONFIG_INVALID, CAMPAIGN_EXISTS, CAMPAIGN_BUSY, ENGINE_UNREACHABLE.
 *
 * @example
 * const { state, done, total } = await runCampaign('night.yaml');
 */
export function runCampaign(file: string, options: RunCampaignOptions = {}): Promise<CampaignOutcome> {
  const { name = null, only = [], keep = false } = options;
  const path = resolve(file);
  return conducted(path, process.cwd(), options, (campaignService, ...rest) =>
    campaignService.run({ file: path, name, only, keep }, ...rest),
  );
}

/** Goes on with a campaign that was interrupted; without a name, with the newest. What is finished is never run again. */
export function resumeCampaign(
  name: string | null = null,
  options: ResumeCampaignOptions = {},
): Promise<CampaignOutcome> {
  const { keep = false, cwd = process.cwd() } = options;
  return conducted(null, resolve(cwd), options, (campaignService, ...rest) =>
    campaignService.resume({ name, keep }, ...rest),
  );
}

type Observer = Parameters<CampaignService['resume']>[1];
type Interrupts = Parameters<CampaignService['resume']>[2];

async function conducted(
  file: string | null,
  cwd: string,
  { signal = NEVER, docker, onOutput = () => {}, onNote = () => {} }: CampaignOptions,
  work: (
    campaignService: CampaignService,
    observer: Observer,
    interrupts: Interrupts,
  ) => ReturnType<CampaignService['resume']>,
): Promise<CampaignOutcome> {
  const { campaignProject, openCampaigns, planCampaign } = await import('../campaigns/service.ts');
  const env = docker === undefined ? process.env : { ...process.env, DOCKER_HOST: docker };
  const around = { project: campaignProject({ cwd, env, files: [] }, file), env, cwd };
  // A mistake in the file is told before anything is made beside it.
  if (file !== null) planCampaign({ file, only: [] }, around);
  const campaignService = await openCampaigns(around);
  try {
    const observer = { begins: () => {}, step: () => {}, output: onOutput, note: onNote };
    const { name, left } = await work(campaignService, observer, { stop: signal, rush: NEVER });
    return { ...(await campaignService.show(name)), left };
  } finally {
    campaignService.close();
  }
}
