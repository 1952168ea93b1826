import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Outcome, ProbeSpec, Role } from '../../../../src/supervision/rules/health/probe.ts';
import {
  answered,
  asked,
  beginProbing,
  dueAt,
  failedUnasked,
  hurried,
  type Probing,
  voided,
} from '../../../../src/supervision/rules/health/probing.ts';
import { mono } from '../../../support/builders.ts';

const probe = (over: Partial<ProbeSpec> = {}): ProbeSpec => ({
  question: { kind: 'tcp', host: '127.0.0.1', port: 80 },
  periodMs: 10_000,
  timeoutMs: 1_000,
  initialDelayMs: 0,
  failureThreshold: 3,
  successThreshold: 1,
  ...over,
});

const begin = (role: Role, spec: ProbeSpec, over: Partial<Parameters<typeof beginProbing>[2]> = {}): Probing =>
  beginProbing(role, spec, { now: mono(0), startedAt: mono(0), random: 0.5, verdict: null, ...over });

/** Asks whenever it is due and answers at once, until `untilMs`. Returns when it was asked, and when each verdict came. */
function play(role: Role, spec: ProbeSpec, answer: (at: number, n: number) => Outcome, untilMs: number) {
  let probing = begin(role, spec);
  const times: number[] = [];
  const verdicts: string[] = [];
  for (let at = dueAt(probing)!; at <= untilMs; at = dueAt(probing)!) {
    times.push(at);
    const before = probing.verdict;
    const outcome = answer(at, times.length);
    probing = answered(asked(probing, at), { outcome, message: '' }, spec, { now: at, random: 0.5 });
    if (probing.verdict !== before) verdicts.push(`${probing.verdict} at ${at}`);
  }
  return { times, verdicts, probing };
}

describe('when it asks', () => {
  test('readiness is asked at once and then ever less eagerly, until it passes', () => {
    const { times } = play('readiness', probe(), (at) => (at < 3_000 ? 'fail' : 'pass'), 30_000);
    expect(times).toEqual([0, 50, 150, 350, 750, 1_550, 2_550, 3_550, 8_550, 18_550, 28_550]);
  });

  test('liveness is never asked eagerly; its first question comes within a second', () => {
    const { times } = play('liveness', probe(), () => 'pass', 30_000);
    expect(times).toEqual([500, 10_500, 20_500]);
  });

  test('a probe that had passed under an earlier daemon goes on somewhere within the period', () => {
    const probing = begin('readiness', probe(), { verdict: 'pass', random: 0.25 });
    expect(dueAt(probing)).toBe(2_500);
    expect(probing.verdict).toBe('pass');
  });

  test('initial_delay counts from the start of the run', () => {
    const spec = probe({ initialDelayMs: 5_000 });
    expect(dueAt(begin('readiness', spec))).toBe(5_000);
    expect(dueAt(begin('readiness', spec, { now: mono(4_000) }))).toBe(5_000);
    expect(dueAt(begin('readiness', spec, { now: mono(9_000) }))).toBe(9_000);
  });

  test('nothing is due while a question is open', () => {
    expect(dueAt(asked(begin('readiness', probe()), mono(0)))).toBeNull();
  });

  test('a question slower than the period is not queued but skipped, and counted', () => {
    const spec = probe({ periodMs: 1_000 });
    const open = asked(begin('liveness', spec), mono(500));
    const late = answered(open, { outcome: 'pass', message: '' }, spec, { now: mono(3_700), random: 0 });
    expect(late.skipped).toBe(3);
    expect(dueAt(late)).toBe(4_500);
  });

  test('news is a reason to ask at once, unless it has passed', () => {
    const spec = probe();
    const once = answered(asked(begin('startup', spec), mono(0)), { outcome: 'fail', message: '' }, spec, {
      now: mono(1),
      random: 0,
    });
    expect(dueAt(hurried(once, mono(20)))).toBe(20);
    const passed = begin('readiness', spec, { verdict: 'pass' });
    expect(hurried(passed, mono(20))).toBe(passed);
  });

  test('those that start together are spread over the period once they have passed', () => {
    const spec = probe();
    const due = [0, 0.3, 0.9].map((random) =>
      dueAt(
        answered(asked(begin('readiness', spec), mono(0)), { outcome: 'pass', message: '' }, spec, {
          now: mono(5),
          random,
        }),
      ),
    );
    expect(due).toEqual([5, 3_005, 9_005]);
  });
});

describe('what the answers come to', () => {
  test('a slow start gets all the time its thresholds give it, however often it is asked in between', () => {
    const spec = probe({ periodMs: 1_000, failureThreshold: 30 });
    expect(play('startup', spec, () => 'fail', 60_000).verdicts).toEqual(['fail at 30000']);
    expect(play('startup', spec, (at) => (at < 29_900 ? 'fail' : 'pass'), 60_000).verdicts).toEqual(['pass at 30000']);
  });

  test('liveness fails after its threshold of failures in a row', () => {
    const answers = ['pass', 'fail', 'fail', 'pass', 'fail', 'fail', 'fail'] as const;
    const { verdicts } = play('liveness', probe(), (_, n) => answers[n - 1] ?? 'pass', 65_000);
    expect(verdicts).toEqual(['pass at 500', 'fail at 60500']);
  });

  test('what could not be asked changes nothing, in either direction', () => {
    const answers = ['pass', 'fail', 'inconclusive', 'fail', 'inconclusive', 'inconclusive', 'fail'] as const;
    const { verdicts } = play('liveness', probe(), (_, n) => answers[n - 1] ?? 'pass', 65_000);
    expect(verdicts).toEqual(['pass at 500', 'fail at 60500']);
  });

  test('readiness comes back after its threshold of passes in a row', () => {
    const spec = probe({ successThreshold: 2, failureThreshold: 1, periodMs: 1_000 });
    const answers = ['pass', 'pass', 'fail', 'pass', 'fail', 'pass', 'pass'] as const;
    const { verdicts } = play('readiness', spec, (_, n) => answers[n - 1] ?? 'pass', 6_000);
    expect(verdicts).toEqual(['pass at 50', 'fail at 550', 'pass at 4550']);
  });

  test('a failure nobody asked about counts like one that was', () => {
    const spec = probe();
    let probing = begin('liveness', spec, { verdict: 'pass' });
    for (let n = 0; n < 3; n += 1) probing = failedUnasked(probing, spec);
    expect(probing.verdict).toBe('fail');
  });

  test('a void answer changes nothing but when it is asked again', () => {
    const spec = probe();
    const open = asked(begin('liveness', spec), mono(500));
    const gone = voided(open, spec, { now: mono(61_000), random: 0.5 });
    expect(gone).toMatchObject({ verdict: null, fails: 0, passes: 0, open: null });
    expect(dueAt(gone)).toBe(66_000);
  });
});

test('whatever is answered and however late, time only goes forward and verdicts keep to the thresholds', () => {
  const outcome = fc.constantFrom<Outcome>('pass', 'fail', 'inconclusive');
  const role = fc.constantFrom<Role>('startup', 'liveness', 'readiness');
  const step = fc.record({ outcome, tookMs: fc.nat(30_000), random: fc.double({ min: 0, max: 0.999, noNaN: true }) });
  const numbers = fc.record({
    periodMs: fc.integer({ min: 1, max: 20_000 }),
    failureThreshold: fc.integer({ min: 1, max: 5 }),
    successThreshold: fc.integer({ min: 1, max: 3 }),
    initialDelayMs: fc.nat(10_000),
  });
  fc.assert(
    fc.property(role, numbers, fc.array(step, { maxLength: 60 }), (of, over, steps) => {
      const spec = probe(over);
      let probing = begin(of, spec);
      let streak = { outcome: 'none', counted: 0 };
      let before = 0;
      for (const { outcome: answer, tookMs, random } of steps) {
        const at = dueAt(probing)!;
        expect(at).toBeGreaterThanOrEqual(before);
        const open = asked(probing, at);
        const now = mono(at + tookMs);
        const after = answered(open, { outcome: answer, message: '' }, spec, { now, random });
        if (answer !== 'inconclusive') {
          const counts = answer === 'pass' || open.open!.counts ? 1 : 0;
          streak = {
            outcome: answer,
            counted:
              (streak.outcome === answer || (counts === 0 && streak.outcome === 'fail') ? streak.counted : 0) + counts,
          };
        }
        if (after.verdict !== probing.verdict) {
          expect(after.verdict).toBe(answer);
          const needed = answer === 'pass' ? spec.successThreshold : spec.failureThreshold;
          expect(streak.counted).toBeGreaterThanOrEqual(needed);
        }
        expect(dueAt(after)!).toBeGreaterThanOrEqual(now);
        probing = after;
        before = now;
      }
    }),
    { numRuns: 2_000 },
  );
});
