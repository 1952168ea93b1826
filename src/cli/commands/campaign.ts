/** keepwell campaign: lists of experiments inside compose services, run to their end whatever happens to the services. */
import { resolve } from 'node:path';
import { Option } from 'commander';
import type { CampaignService } from '../../campaigns/service.ts';
import { settingsOf } from '../../campaigns/spec.ts';
import { type CliCall, usage } from '../call.ts';
import { chooseAction, type Definition } from '../define.ts';
import { Interrupted } from '../interrupt.ts';
import { campaignCsv, campaignTable, experimentTable, headline, plannedLine } from './campaign-live.ts';

interface Options {
  readonly name?: string;
  readonly only?: readonly string[];
  readonly keep?: true;
  readonly dryRun?: true;
  readonly output?: string;
}

const ACTIONS = ['run', 'resume', 'list', 'show', 'teardown'] as const;
type Action = (typeof ACTIONS)[number];
const EXIT_FAILED = 1;

/** Which options go with which action; the rest go with all. */
const GOES_WITH: Readonly<Record<'name' | 'only' | 'keep' | 'dryRun', readonly Action[]>> = {
  name: ['run'],
  only: ['run'],
  keep: ['run', 'resume'],
  dryRun: ['run'],
};

export const campaign: Definition<Options> = {
  usage: 'campaign <ACTION> [FILE|CAMPAIGN]',
  onlyHere: 'Log in there (ssh) and run it in the folder of the project: campaigns run where their services are.',
  group: 'Agents, users, experiments:',
  summary: 'experiments inside compose services: run, resume, list, show, teardown',
  actions: [
    ['run FILE', 'start the services that the experiments need, run the experiments one by one, remove the services'],
    ['resume [CAMPAIGN]', 'continue after Ctrl-C, a crash or a reboot; finished experiments are not run again'],
    ['list', 'all campaigns'],
    ['show [CAMPAIGN]', 'the result of each experiment (default: of the newest campaign)'],
    ['teardown [CAMPAIGN]', 'remove services that a killed campaign left behind'],
  ],
  description:
    'Ctrl-C ends the current experiment and removes the services; a second Ctrl-C does not wait for the experiment. ' +
    'The exit code is 0 when all experiments are done, 1 when one failed or some are left, 130 after Ctrl-C.',
  moreForms: ['csv'],
  options: [
    new Option('--name <NAME>', 'with run: use this name instead of the one in the file'),
    new Option('--only <EXPERIMENT>', 'with run: only this experiment; repeatable').argParser(
      (value: string, before: readonly string[] | undefined) => [...(before ?? []), value],
    ),
    new Option('--keep', 'leave the services up at the end'),
    new Option('--dry-run', 'with run: only print what would be run'),
  ],
  examples: [
    ['keepwell campaign run night.yaml', 'all experiments'],
    ['keepwell campaign run night.yaml --dry-run', 'only the list of experiments'],
    ['keepwell campaign resume', 'continue where it was interrupted'],
    ['keepwell campaign show night-run -o csv > night.csv', 'the results, for a spreadsheet'],
  ],
  handler: async (call, [word = '', what], options) => {
    const action = chooseAction('campaign', ACTIONS, word);
    refuseStrayOptions(action, options);
    if (action === 'run' && what === undefined) throw usage('Say which campaign file: keepwell campaign run FILE.');
    return await act(call, action, what ?? null, options);
  },
};

function refuseStrayOptions(action: Action, options: Options): void {
  for (const [key, actions] of Object.entries(GOES_WITH)) {
    if (options[key as keyof Options] === undefined || actions.includes(action)) continue;
    throw usage(`--${key === 'dryRun' ? 'dry-run' : key} goes with "campaign ${actions.join('" and "')}" only.`);
  }
  if (options.output === 'csv' && action !== 'show') throw usage('-o csv goes with "campaign show" only.');
}

async function act(call: CliCall, action: Action, what: string | null, options: Options): Promise<number> {
  const { cwd, env } = call.world;
  const { campaignProject, openCampaigns, planCampaign } = await import('../../campaigns/service.ts');
  const file = action === 'run' ? resolve(cwd, what!) : null;
  const project = campaignProject({ cwd, env, files: call.files }, file);
  const around = { project, env, cwd };
  // A mistake in the file is told before anything is made beside it.
  const plan = file === null ? null : planCampaign({ file, only: options.only ?? [] }, around);
  if (options.dryRun) return dryRun(call, plan!);
  const campaignService = await openCampaigns(around);
  try {
    if (action === 'list') return await list(call, campaignService);
    if (action === 'show') return await show(call, campaignService, what, options.output === 'csv');
    return await work(call, campaignService, action, file ?? what, options);
  } finally {
    campaignService.close();
  }
}

function dryRun(
  call: CliCall,
  { name, experiments }: ReturnType<typeof import('../../campaigns/service.ts')['planCampaign']>,
): number {
  const services = [...new Set(experiments.map(({ service }) => service))];
  call.printJson({
    schema_version: 1,
    campaign: name,
    services,
    experiments: experiments.map((one) => ({
      ...{ name: one.name, service: one.service, command: one.command },
      ...settingsOf(one),
    })),
  });
  call.print(`${name}: ${experiments.length} experiments, in ${services.join(', ')}`);
  for (const one of experiments) call.print(`  ${plannedLine(one)}`);
  return 0;
}

async function work(
  call: CliCall,
  campaignService: CampaignService,
  action: 'run' | 'resume' | 'teardown',
  what: string | null,
  { name = undefined, only = [], keep = false }: { name?: string; only?: readonly string[]; keep?: boolean },
): Promise<number> {
  const { liveView } = await import('./campaign-live.ts');
  const interrupts = { stop: call.world.interrupt(), rush: call.world.interruptAgain() };
  using live = liveView(call);
  if (action === 'teardown') {
    const { names, leftOf, left } = await campaignService.teardown(what, live);
    call.printJson({ schema_version: 1, campaigns: [...names, ...leftOf], left });
    if (names.length > 0) call.print(`put away: ${names.join(', ')}`);
    if (leftOf.length > 0) call.print(`not put away: ${leftOf.join(', ')}`);
    if (names.length + leftOf.length === 0) call.print('nothing was left behind');
    return left.length > 0 ? EXIT_FAILED : 0;
  }
  const ended =
    action === 'run'
      ? await campaignService.run({ file: what!, name: name ?? null, only, keep }, live, interrupts)
      : await campaignService.resume({ name: what, keep }, live, interrupts);
  live[Symbol.dispose]();
  await show(call, campaignService, ended.name, false);
  if (ended.outcome === 'interrupted' && interrupts.stop.aborted) throw new Interrupted();
  return ended.outcome === 'done' && ended.left.length === 0 ? 0 : EXIT_FAILED;
}

async function list(call: CliCall, campaignService: CampaignService): Promise<number> {
  const view = await campaignService.list();
  call.printJson(view);
  if (view.campaigns.length === 0) call.print('no campaign has been run here');
  else call.print(...campaignTable(view.campaigns, call.paint, call.columns));
  return 0;
}

async function show(
  call: CliCall,
  campaignService: CampaignService,
  name: string | null,
  asCsv: boolean,
): Promise<number> {
  const view = await campaignService.show(name);
  if (asCsv) {
    call.world.out.write(campaignCsv(view, settings(call, campaignService, view.campaign)));
    return 0;
  }
  call.printJson(view);
  call.print(...experimentTable(view, call.paint, call.columns));
  call.print(headline(view, call.paint));
  return 0;
}

/** Null, and said: the file of the campaign needs a variable that is not there now. */
function settings(
  call: CliCall,
  campaignService: CampaignService,
  name: string,
): ReturnType<CampaignService['settings']> | null {
  try {
    return campaignService.settings(name);
  } catch (error) {
    call.note(`without config and env of the experiments: ${(error as Error).message}`);
    return null;
  }
}
