/** An Engine that goes away under a campaign, as the campaign notices and tells it. */
import { expect, test } from 'vitest';
import type { MonoMs } from '../../../src/base/pure/ids.ts';
import { watchOutages } from '../../../src/campaigns/outages.ts';
import type { CampaignParts } from '../../../src/campaigns/ports.ts';
import { waitFor } from '../../support/wait-for.ts';

const NEVER = new AbortController().signal;
const AWAY = { kind: 'unreachable', why: 'nobody listens' } as const;

/** `cut` ends the stream of events; each wait takes a second of this clock. */
function world() {
  const notes: string[] = [];
  let [now, isThere] = [0, true];
  let cut = () => {};
  const engine: CampaignParts['engine'] = {
    ping: async () => (isThere ? { kind: 'done' } : AWAY),
    events: async ({ opened }, signal) => {
      if (!isThere) return AWAY;
      opened();
      await new Promise<void>((resolve) => {
        cut = resolve;
        signal.addEventListener('abort', () => resolve());
      });
      return AWAY;
    },
  };
  const clock = {
    now: () => now as MonoMs,
    sleepUntil: async (_at: MonoMs, signal: AbortSignal) => {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      now += 1_000;
    },
  };
  const observer = { note: (text: string) => notes.push(text) };
  const outages = watchOutages({ engine, clock, observer } as unknown as CampaignParts);
  return {
    ...{ outages, notes },
    ends: () => {
      isThere = false;
      cut();
    },
    begins: () => {
      isThere = true;
    },
    cuts: () => cut(),
    [Symbol.dispose]: () => outages[Symbol.dispose](),
  };
}

test('it is told once that the Engine is away, and once that it is back, however long it takes', async () => {
  using scene = world();
  const { outages, notes } = scene;
  scene.ends();
  await waitFor('that to be noticed, though nobody asked', () => outages.isAway);
  await waitFor('some time to pass', () => outages.awayMs >= 60_000);
  scene.begins();
  await waitFor('it to be back', () => !outages.isAway);
  expect(notes).toEqual([
    'waiting for the Docker Engine, nothing counts meanwhile: nobody listens',
    expect.stringMatching(/^the Docker Engine is back after /),
  ]);
  expect(outages.count).toBe(1);
});

test('whoever asks waits until it is back', async () => {
  using scene = world();
  await scene.outages.over(NEVER);
  expect(scene.outages.count).toBe(0);
  scene.ends();
  const over = scene.outages.over(NEVER);
  await waitFor('that to be noticed', () => scene.outages.isAway);
  scene.begins();
  await over;
  expect(scene.outages).toMatchObject({ count: 1, isAway: false });
});

test('a stream that is cut is no outage, and nobody waits for an Engine after an interrupt', async () => {
  using scene = world();
  scene.cuts();
  await scene.outages.over(NEVER);
  expect(scene.notes).toEqual([]);
  scene.ends();
  await expect(scene.outages.over(AbortSignal.abort(new Error('Ctrl-C')))).rejects.toThrow('Ctrl-C');
});
