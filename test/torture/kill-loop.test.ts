import { describe, expect, test } from 'vitest';
import { FAILPOINTS } from '../../src/base/failpoints.ts';
import { killLoop, type Verdict } from './kill-loop.ts';

const FLAWLESS = { lost: [], wrong: [], doubled: [], tornLogs: [] };
const flaws = ({ lost, wrong, doubled, tornLogs }: Verdict) => ({ lost, wrong, doubled, tornLogs });

describe('twenty components under a daemon that dies all the time', () => {
  test('killed from outside, and at random steps of its own: nothing is lost, doubled or wrong', async () => {
    const verdict = await killLoop({ kills: 100, components: 20, shimDelay: null, failpoints: 'random' });
    console.log(`kill loop: ${verdict.kills} kills, ${verdict.runs} runs, ${verdict.revoked} revoked`);
    expect(flaws(verdict)).toEqual(FLAWLESS);
    expect(verdict.runs).toBeGreaterThan(100);
  });

  test('with shims of sh: nothing is lost, doubled or wrong', async () => {
    const verdict = await killLoop({ kills: 60, components: 20, shimDelay: null, failpoints: 'random', shim: 'sh' });
    console.log(`kill loop with sh: ${verdict.kills} kills, ${verdict.runs} runs, ${verdict.revoked} revoked`);
    expect(flaws(verdict)).toEqual(FLAWLESS);
    expect(verdict.runs).toBeGreaterThan(50);
  });

  test('with shims that are slow to begin: nothing is lost, doubled or wrong', async () => {
    const verdict = await killLoop({ kills: 60, components: 20, shimDelay: 'claim:0.4', failpoints: 'random' });
    console.log(`kill loop with delay: ${verdict.kills} kills, ${verdict.runs} runs, ${verdict.revoked} revoked`);
    expect(flaws(verdict)).toEqual(FLAWLESS);
    expect(verdict.revoked).toBeGreaterThan(0);
  });

  test('dying, failing or dawdling once at every failpoint there is: nothing is lost, doubled or wrong', async () => {
    // Those of containers and sessions are never reached by processes; they have tests of their own.
    const reached = FAILPOINTS.filter((name) => !/^(container|session)\./.test(name));
    const failpoints = reached.flatMap((name) => [
      `${name}=crash@1`,
      `${name}=crash@4`,
      `${name}=error:EIO@2`,
      `${name}=delay:150@1`,
    ]);
    const verdict = await killLoop({ kills: failpoints.length, components: 5, shimDelay: null, failpoints });
    console.log(`failpoint sweep: ${verdict.kills} daemons, ${verdict.runs} runs, ${verdict.revoked} revoked`);
    expect(flaws(verdict)).toEqual(FLAWLESS);
  });
});
