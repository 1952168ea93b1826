import { describe, expect, test } from 'vitest';
import {
  describeSource,
  type HeartbeatSpec,
  silenceLimitMs,
} from '../../../../src/supervision/rules/freeze/heartbeat.ts';
import {
  alarmed,
  beaten,
  isOverdue,
  looked,
  lookPeriodMs,
  newPulse,
} from '../../../../src/supervision/rules/freeze/pulse.ts';
import { mono } from '../../../support/builders.ts';

const PING: HeartbeatSpec = { source: { kind: 'ping' }, freezeAfterMs: 10_000, dumpSignal: null };
const PERIOD = lookPeriodMs(PING, false);

/** Looks every period from 0 to `untilMs`; `away`: moments between which we were not awake. */
function listened(untilMs: number, away: readonly [number, number] = [0, 0], deafFrom = Number.POSITIVE_INFINITY) {
  let pulse = newPulse(mono(0), mono(0));
  for (let at = PERIOD; at <= untilMs; at += PERIOD) {
    if (at > away[0] && at < away[1]) continue;
    pulse = looked(pulse, mono(at), PERIOD, at >= deafFrom);
  }
  return pulse;
}

describe('silence', () => {
  test('is overdue after freeze_after, and not a moment before', () => {
    expect(isOverdue(listened(9_000), PING, mono(9_999))).toBe(false);
    expect(isOverdue(listened(10_000), PING, mono(10_000))).toBe(true);
  });

  test('a beat ends it', () => {
    const pulse = beaten(listened(9_000), mono(9_500));
    expect(pulse.beatAt).toBe(9_500);
    expect(isOverdue(pulse, PING, mono(19_000))).toBe(false);
  });

  test('does not count while we were stopped, starved or suspended', () => {
    const pulse = listened(65_000, [3_000, 60_000]);
    expect(isOverdue(pulse, PING, mono(65_000))).toBe(false);
    expect(isOverdue(listened(70_000, [3_000, 60_000]), PING, mono(70_000))).toBe(true);
  });

  test('does not count while nothing could be heard', () => {
    expect(isOverdue(listened(60_000, [0, 0], 5_000), PING, mono(60_000))).toBe(false);
  });

  test('what we miss during an alarm makes its next step late', () => {
    const pulse = looked(alarmed(listened(10_000)), mono(70_000), PERIOD, false);
    expect(pulse.missedMs).toBe(60_000 - PERIOD);
  });

  test('a heartbeat with a rhythm is overdue from its next beat on', () => {
    const source = { kind: 'log', everyMs: 30_000, pattern: null } as const;
    expect(silenceLimitMs({ ...PING, source })).toBe(40_000);
  });
});

test.each([
  [1_000, false, 100],
  [10_000, false, 1_000],
  [300_000, false, 5_000],
  [300_000, true, 500],
  [1_000, true, 100],
])('with freeze_after %i ms (alarm: %s) it is listened to every %i ms', (freezeAfterMs, isAlarmed, everyMs) => {
  expect(lookPeriodMs({ ...PING, freezeAfterMs }, isAlarmed)).toBe(everyMs);
});

test.each([
  [{ kind: 'ping' }, 'ping'],
  [{ kind: 'log', everyMs: 1, pattern: null }, 'log'],
  [{ kind: 'log', everyMs: 1, pattern: 'tick' }, 'log lines with "tick"'],
  [{ kind: 'log', everyMs: 1, pattern: '/tick/' }, 'log lines with /tick/'],
  [{ kind: 'file', path: '/a/state.json', field: null }, 'file state.json'],
  [{ kind: 'file', path: '/a/state.json', field: 'last_update' }, 'file state.json, field last_update'],
] as const)('%o is called %s', (source, text) => {
  expect(describeSource(source)).toBe(text);
});
