import { expect, test } from 'vitest';
import type { CampaignView } from '../../../src/campaigns/rules/views.ts';
import { settingsOf } from '../../../src/campaigns/spec.ts';
import { campaignCsv, plannedLine } from '../../../src/cli/commands/campaign-live.ts';
import { experimentSpec } from '../../support/campaign-world.ts';

const VIEW = {
  experiments: ['a', 'b'].map((name) => ({
    ...{ name, service: 'gpu', state: 'done', attempts: 1, exit_code: 0, duration_ms: 5, reason: null },
  })),
} as unknown as CampaignView;
const COMMON = 'name,service,state,attempts,exit_code,duration_ms,reason';

test('rows of a matrix can be told apart: a table has their config and a column for each variable', () => {
  const specs = [
    experimentSpec('a', { config: 'configs/a.yaml', env: { SEED: '1', HF_TOKEN: 'hf_abc' } }),
    experimentSpec('b', { config: null, env: { SEED: '2', MODE: '=1+1, "x"' } }),
  ];
  const settings = new Map(specs.map((one) => [one.name, settingsOf(one)]));
  expect(campaignCsv(VIEW, settings).split('\r\n')).toEqual([
    `${COMMON},config,env.SEED,env.HF_TOKEN,env.MODE`,
    'a,gpu,done,1,0,5,,configs/a.yaml,1,[redacted],',
    `b,gpu,done,1,0,5,,,2,,"'=1+1, ""x"""`,
    '',
  ]);
});

test('without the file of the campaign a table has the results all the same', () => {
  expect(campaignCsv(VIEW, null).split('\r\n')[0]).toBe(COMMON);
});

test('what would be run is told with its variables, and with a config that the command does not name', () => {
  const env = { SEED: '1', HF_TOKEN: 'hf_abcdef' };
  const named = experimentSpec('a', { config: 'a.yaml', command: ['lem', 'a.yaml'], env });
  expect(plannedLine(named)).toBe('a  gpu: SEED=1 HF_TOKEN=[redacted] lem a.yaml');
  expect(plannedLine(experimentSpec('b', { config: 'b.yaml', command: ['train', 'hf_abcdef'] }))).toBe(
    'b  gpu: train hf_abcdef (config b.yaml)',
  );
});
