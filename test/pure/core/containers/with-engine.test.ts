/** Which ends of containers were the Engine's own, where nobody was there. */
import { expect, test } from 'vitest';
import { endedWithEngine } from '../../../../src/docker/rules/exit.ts';

const BEGUN = Date.UTC(2026, 0, 2, 3, 4, 5);
const bridge = { name: 'bridge', createdAt: BEGUN };
const before = (ms: number) => new Date(BEGUN - ms).toISOString();
const end = { finishedAt: before(12_000), oomKilled: false, error: '' };

test.each([
  ['shortly before the Engine began', end, [bridge], true],
  ['at the very moment', { ...end, finishedAt: before(0) }, [bridge], true],
  ['long before it', { ...end, finishedAt: before(61_000) }, [bridge], false],
  ['under this very Engine', { ...end, finishedAt: before(-1) }, [bridge], false],
  ['for want of memory', { ...end, oomKilled: true }, [bridge], false],
  ['because it could not be started', { ...end, error: 'no such file' }, [bridge], false],
  ['at a time that is not told', { ...end, finishedAt: null }, [bridge], false],
  ['before another network was made', end, [{ name: 'shop', createdAt: BEGUN }], false],
  ['under an Engine that does not date its bridge', end, [{ name: 'bridge', createdAt: null }], false],
])('a container that ended %s', (_when, state, networks, isByEngine) => {
  expect(endedWithEngine(state, networks)).toBe(isByEngine);
});
