/** Keys of a campaign file as other tools, and other people, call them. */
import { quoted } from '../text.ts';
import type { KeyProblem } from './key-problem.ts';
import { normal } from './ours.ts';

export const CAMPAIGN_PLACE = 'CAMPAIGN';
export const isOfCampaign = (place: string): boolean =>
  place === CAMPAIGN_PLACE || place.startsWith(`${CAMPAIGN_PLACE}.`);

/** By place, words without case, dashes and underscores. */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    name: 'campaign',
    composefile: 'compose',
    jobs: 'experiments',
    runs: 'experiments',
    tasks: 'experiments',
    maxretries: 'retries',
    attempts: 'retries',
    healthcheck: 'health',
    cooldownseconds: 'cool_down',
    onerror: 'on_failure',
    failfast: 'on_failure',
    outputs: 'artifacts',
    results: 'artifacts',
  },
  '.compose': {
    composefile: 'file',
    path: 'file',
    projectdirectory: 'project_dir',
    cwd: 'project_dir',
    dir: 'project_dir',
  },
  '.health': {
    gpumemorythreshold: 'gpu_memory_threshold_pct',
    threshold: 'gpu_memory_threshold_pct',
    restarts: 'max_restarts',
    interval: 'every',
    period: 'every',
  },
  '.experiments.*': {
    environment: 'env',
    container: 'service',
    id: 'name',
    params: 'env',
    args: 'command',
    file: 'config',
  },
  '.artifacts.*': { src: 'from', source: 'from', path: 'from', dst: 'to', dest: 'to', target: 'to' },
};

/** Null: it is nobody's word. */
export function explainCampaignKey({
  key,
  place,
}: {
  readonly key: string;
  readonly place: string;
}): KeyProblem | null {
  const words = WORDS[place.slice(CAMPAIGN_PLACE.length)] ?? {};
  const word = normal(key);
  const ours = Object.hasOwn(words, word) ? words[word]! : null;
  if (ours === null) return null;
  const hint = `Keepwell's word for ${quoted(key)} is ${ours}.`;
  return { message: `unknown key ${quoted(key)}`, hint, standsFor: ours };
}
