/** What `down --rm` removes, and what it says about containers that somebody else has started again. */
import { expect, test } from 'vitest';
import type { ContainerSummary } from '../../../src/docker/ports.ts';
import { type LeftWorld, removeLeft } from '../../../src/drivers/container/left.ts';

const container = (name: string, status: string): ContainerSummary => ({
  ...{ id: `${name}-id`, names: [name], image: 'app', imageId: 'sha256:1', labels: {}, status },
  ...{ text: '', health: 'none' as const, createdAt: 0 },
});

test('a container that runs is neither removed nor passed over in silence', async () => {
  const removed: string[] = [];
  const engine: LeftWorld['engine'] = {
    list: () => Promise.resolve({ kind: 'listed', items: [container('old', 'exited'), container('again', 'running')] }),
    networks: () => Promise.resolve({ kind: 'listed', items: [] }),
    removeStopped: (id) => {
      removed.push(id);
      return Promise.resolve({ kind: 'done' });
    },
    removeNetwork: () => Promise.resolve({ kind: 'done' }),
  };
  const left = await removeLeft({ engine, owner: 'me' }, new AbortController().signal);
  expect(removed).toEqual(['old-id']);
  expect(left).toEqual({
    ...{ kept: [], removed: ['old'], removedNetworks: [] },
    problems: ['the container again runs, so it is not removed; "docker rm -f again" does that'],
  });
});
