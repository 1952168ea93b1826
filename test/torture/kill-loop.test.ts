import { describe, expect, test } from 'vitest';
import { killLoop, type Verdict } from './kill-loop.ts';

const FLAWLESS = { lost: [], wrong: [], doubled: [], tornLogs: [] };
const flaws = ({ lost, wrong, doubled, tornLogs }: Verdict) => ({ lost, wrong, doubled, tornLogs });

describe('twenty components under a daemon that dies all the time', () => {
  test('killed from outside, and at random steps of its own: nothing is lost, doubled or wrong', async () => {
    const verdict = await killLoop({ kills: 100, components: 20, shimDelay: null, failpoints: true });
    console.log(`kill loop: ${verdict.kills} kills, ${verdict.runs} runs, ${verdict.revoked} revoked`);
    expect(flaws(verdict)).toEqual(FLAWLESS);
    expect(verdict.runs).toBeGreaterThan(200);
  });

  test('with shims that are slow to begin: nothing is lost, doubled or wrong', async () => {
    const verdict = await killLoop({ kills: 60, components: 20, shimDelay: 'claim:0.4', failpoints: true });
    console.log(`kill loop with delay: ${verdict.kills} kills, ${verdict.runs} runs, ${verdict.revoked} revoked`);
    expect(flaws(verdict)).toEqual(FLAWLESS);
    expect(verdict.revoked).toBeGreaterThan(0);
  });
});
