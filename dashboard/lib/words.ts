/** How a state is shown: a tone, a shape and a word, never the one without the others. */
import type { OverviewRow } from '../../src/dashboard/rules/views.ts';

export type Tone = 'ok' | 'busy' | 'warn' | 'bad' | 'idle';
export type Shape = 'full' | 'half' | 'ring' | 'dashed' | 'cross' | 'check';

export interface Appearance {
  readonly tone: Tone;
  readonly shape: Shape;
  readonly word: string;
}

export type Seen = Pick<OverviewRow, 'state' | 'condition' | 'health' | 'ready'>;

const look = (tone: Tone, shape: Shape, word: string): Appearance => ({ tone, shape, word });

const CONDITIONS: Readonly<Record<string, Appearance>> = {
  frozen: look('bad', 'half', 'frozen'),
  unkillable: look('bad', 'cross', 'cannot be ended'),
  'engine-unreachable': look('warn', 'dashed', 'engine unreachable'),
  'not-known': look('warn', 'dashed', 'not known'),
};

export function lookOf({ state, condition, health, ready }: Seen): Appearance {
  const odd = condition === null ? undefined : CONDITIONS[condition];
  if (odd) return odd;
  switch (state) {
    case 'running':
      if (health === 'unhealthy') return look('bad', 'half', 'unhealthy');
      if (health === 'unknown') return look('warn', 'dashed', 'health not known');
      if (!ready) return health === 'starting' ? look('busy', 'half', 'starting') : look('warn', 'half', 'not ready');
      return look('ok', 'full', 'running');
    case 'starting':
      return look('busy', 'half', 'starting');
    case 'waiting':
      return look('busy', 'ring', 'waiting');
    case 'stopping':
      return look('busy', 'half', 'stopping');
    case 'backing-off':
      return look('warn', 'dashed', 'backing off');
    case 'gave-up':
      return look('bad', 'cross', 'gave up');
    case 'completed':
      return look('ok', 'check', 'completed');
    case 'stopped':
      return look('idle', 'ring', 'stopped');
    default:
      return look('idle', 'ring', String(state satisfies never));
  }
}

/** By how soon somebody should look. */
const URGENCY: Readonly<Record<Tone, number>> = { bad: 0, warn: 1, busy: 2, ok: 3, idle: 4 };
export const urgencyOf = (row: Seen): number => URGENCY[lookOf(row).tone];

export const BEATS: Readonly<Record<string, string>> = {
  u: 'up',
  t: 'trouble',
  d: 'down',
  s: 'at rest',
  '-': 'nothing known',
};

/** Of every word for a state that the API has: components, agents, sessions, campaigns, checks, tickets. */
export function toneOf(word: string): Tone {
  if (/^(ok|healthy|running|ready|done|completed|finished|delivered|resolved|closed|pass|active)$/.test(word))
    return 'ok';
  if (/^(starting|waiting|stopping|ending|spawning|pending|none)$/.test(word)) return 'busy';
  if (/^(failed|unhealthy|gave-up|crashed|frozen|timed-out|unkillable|critical|fail|open|high)$/.test(word))
    return 'bad';
  if (/^(backing-off|degraded|interrupted|unknown|error|skipped|medium)$/.test(word)) return 'warn';
  return 'idle';
}

export const SHAPES: Readonly<Record<Tone, Shape>> = {
  ok: 'full',
  busy: 'ring',
  warn: 'dashed',
  bad: 'cross',
  idle: 'ring',
};
