/** What counts as old when the clock of the machine cannot be believed. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BootId, MonoMs, WallMs } from '../../../../src/base/pure/ids.ts';
import { observed, oldBefore, type Progress, SLACK_MS } from '../../../../src/history/rules/progress.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const WEEK = 7 * DAY;
const START = Date.UTC(2026, 0, 1);

/** A machine whose clock may be wrong, looked at every few minutes. */
class Machine {
  progress: Progress | null = null;
  trueMs = 0;
  offMs = 0;
  boot = 1;
  bootedAt = 0;

  get wall(): number {
    return START + this.trueMs + this.offMs;
  }
  run(forMs: number, every = 10 * MINUTE): this {
    for (let left = forMs; left > 0; left -= every) {
      this.trueMs += Math.min(every, left);
      this.look();
    }
    return this;
  }
  look(): void {
    const reading = {
      bootId: `b${this.boot}` as BootId,
      mono: (this.trueMs - this.bootedAt) as MonoMs,
      wall: this.wall as WallMs,
    };
    this.progress = observed(this.progress, reading, WEEK);
  }
  reboot(offMs: number): this {
    this.trueMs += offMs;
    this.boot += 1;
    this.bootedAt = this.trueMs;
    return this;
  }
  get old(): number | null {
    return this.progress === null ? null : oldBefore(this.progress, WEEK);
  }
}

describe('what is old', () => {
  test('nothing before the retention has passed', () => {
    expect(new Machine().run(WEEK - HOUR).old).toBeNull();
  });

  test('with a steady clock: what is a retention, an hour and a little older than now', () => {
    const machine = new Machine().run(30 * DAY);
    const ageMs = machine.wall - machine.old!;
    expect(ageMs).toBeGreaterThanOrEqual(WEEK + SLACK_MS);
    expect(ageMs).toBeLessThanOrEqual(WEEK + SLACK_MS + 2 * HOUR);
  });

  test.each([YEAR, -YEAR, 10 * YEAR, -10 * MINUTE])(
    'nothing young after a jump of %d ms, nor after the jump back',
    (jump) => {
      const machine = new Machine().run(30 * DAY);
      const young = machine.wall;
      machine.offMs = jump;
      machine.run(2 * DAY);
      expect(machine.old!).toBeLessThan(young);
      const duringJump = machine.wall;
      machine.offMs = 0;
      machine.run(2 * DAY);
      expect(machine.old!).toBeLessThan(Math.min(young, duringJump));
    },
  );

  test('after the clock is right again for long enough, old is old again', () => {
    const machine = new Machine().run(10 * DAY);
    machine.offMs = -YEAR;
    machine.run(DAY);
    machine.offMs = 0;
    machine.run(20 * DAY);
    expect(machine.wall - machine.old!).toBeLessThan(WEEK + 3 * HOUR);
  });

  test('the time in which the machine is off does not count, whatever the clock says', () => {
    const machine = new Machine().run(DAY);
    for (let n = 1; n < 20; n += 1) {
      machine.offMs = n * YEAR;
      machine.reboot(HOUR).run(HOUR);
    }
    expect(machine.old).toBeNull();
    expect(machine.progress!.countedMs).toBeLessThanOrEqual(2 * DAY);
  });

  test('whatever the clock does, nothing that is young is old, and few marks are kept', () => {
    const act = fc.oneof(
      fc.record({ kind: fc.constant('run' as const), ms: fc.integer({ min: MINUTE, max: 4 * DAY }) }),
      fc.record({ kind: fc.constant('jump' as const), ms: fc.integer({ min: -2 * YEAR, max: 2 * YEAR }) }),
      fc.record({ kind: fc.constant('reboot' as const), ms: fc.integer({ min: 0, max: DAY }) }),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const machine = new Machine();
        const written: { trueMs: number; wall: number }[] = [];
        for (const { kind, ms } of acts) {
          if (kind === 'run') machine.run(ms, 5 * MINUTE + ms / 50);
          else if (kind === 'jump') machine.offMs = ms;
          else machine.reboot(ms);
          machine.look();
          written.push({ trueMs: machine.trueMs, wall: machine.wall });
          const { old } = machine;
          for (const row of written) {
            const isYoung = machine.trueMs - row.trueMs < WEEK;
            if (isYoung && old !== null) expect(row.wall).toBeGreaterThanOrEqual(old);
          }
        }
        expect(machine.progress?.marks.length ?? 0).toBeLessThanOrEqual(400);
      }),
      { numRuns: 200 },
    );
  });
});
