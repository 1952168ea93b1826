import fc from 'fast-check';
import { expect, test } from 'vitest';
import { next, wakeAt } from '../../../../src/docker/healing/rules/next.ts';
import {
  type HealingObservation,
  type HealingState,
  type HealPolicy,
  NEW_HEALING_STATE,
} from '../../../../src/docker/healing/rules/state.ts';
import { exitCode, mono, restartSpec } from '../../../support/builders.ts';

const MAX = 3;
const WITHIN_MS = 60_000;
const POLICY: HealPolicy = {
  restart: restartSpec({
    limit: { max: MAX, withinMs: WITHIN_MS, retryMs: 900_000 },
    backoff: { resetAfterMs: 30_000 },
  }),
  minUptimeMs: 0,
  graceMs: 10_000,
};

type Word =
  | { readonly kind: 'sicken' | 'recover' | 'die' | 'pause' | 'start-by-hand' | 'engine-goes' | 'engine-back' | 'late' }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'answer'; readonly ok: boolean };

const word: fc.Arbitrary<Word> = fc.oneof(
  fc.record({
    kind: fc.constantFrom<
      'sicken' | 'recover' | 'die' | 'pause' | 'start-by-hand' | 'engine-goes' | 'engine-back' | 'late'
    >('sicken', 'recover', 'die', 'pause', 'start-by-hand', 'engine-goes', 'engine-back', 'late'),
  }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 90_000 }) }),
  fc.record({ kind: fc.constant('answer' as const), ok: fc.boolean() }),
);

/** A container, an Engine that comes and goes, and the one who looks after it. */
class World {
  healing: HealingState = NEW_HEALING_STATE;
  now = 1_000_000;
  #life = 1;
  #phase: HealingObservation['phase'] = 'running';
  #isHealthy = true;
  #isAway = false;
  #wasAway = false;
  /** The restart that the Engine is asked for right now: of which incarnation. */
  #asked: string | null = null;
  readonly #past: HealingObservation[] = [];
  /** Incarnations that had a fault of their own, and how many of these faults nobody has counted yet. */
  readonly #faulty = new Set<string>();
  faults = 0;

  #sight(): HealingObservation {
    return {
      id: 'c1',
      startedAt: `T${this.#life}`,
      phase: this.#phase,
      health: { status: this.#isHealthy ? 'healthy' : 'unhealthy', reason: 'it is' },
      cause: this.#phase === 'ended' ? exitCode(1) : null,
      uptimeMs: 1_000,
      crashesBelongTo: null,
      healthBelongsTo: null,
    };
  }

  #send(event: Parameters<typeof next>[1]): void {
    const context = { now: mono(this.now), random: 0, policy: POLICY };
    const spentBefore = this.healing.counters.failures;
    const { healing, effects } = next(this.healing, event, context);
    if (healing.counters.failures < spentBefore) this.faults += spentBefore - healing.counters.failures;
    if (healing.counters.failures > spentBefore) {
      expect(this.#faulty, 'only what had a fault of its own is blamed').toContain(healing.past);
      this.faults--;
    }
    for (const effect of effects) {
      if (effect.kind !== 'restart') continue;
      expect(this.healing.away, 'nothing is done while the Engine is away').toBeNull();
      expect(this.#asked, 'one restart at a time').toBeNull();
      expect(healing.state.kind).toBe('restarting');
      this.#asked = effect.startedAt;
    }
    this.healing = healing;
  }

  #look(): void {
    if (this.#isAway) return;
    this.#past.push(this.#sight());
    this.#send({ kind: 'seen', observation: this.#sight(), engineWasAway: this.#wasAway });
    this.#wasAway = false;
  }

  #fault(isEnd: boolean): void {
    if (this.#phase !== 'running') return;
    const endsWithEngine = isEnd && this.#isAway;
    if (!endsWithEngine && (isEnd || this.#isHealthy)) {
      this.#faulty.add(`T${this.#life}`);
      this.faults++;
    }
    if (isEnd) this.#phase = 'ended';
    else this.#isHealthy = false;
    this.#look();
  }

  say(said: Word): void {
    switch (said.kind) {
      case 'sicken':
        this.#fault(false);
        break;
      case 'die':
        this.#fault(true);
        break;
      case 'recover':
        this.#isHealthy = true;
        this.#look();
        break;
      case 'pause':
        if (this.#phase !== 'ended') this.#phase = this.#phase === 'paused' ? 'running' : 'paused';
        this.#look();
        break;
      case 'start-by-hand':
        if (this.#phase === 'ended') this.#begin();
        this.#look();
        break;
      case 'engine-goes':
        this.#isAway = true;
        this.#wasAway = true;
        this.#send({ kind: 'away', why: 'gone' });
        break;
      case 'engine-back':
        if (!this.#isAway) break;
        this.#isAway = false;
        this.#send({ kind: 'away', why: null });
        this.#look();
        break;
      case 'late':
        this.#tellLate();
        break;
      case 'pass':
        this.#pass(said.ms);
        break;
      case 'answer':
        this.#answer(said.ok);
        break;
    }
  }

  /** The end of one that was restarted since is told after all. */
  #tellLate(): void {
    const old = this.#past.findLast(({ startedAt }) => startedAt === this.healing.past);
    if (!old || this.#isAway || this.healing.state.kind === 'backing-off') return;
    this.#send({ kind: 'seen', observation: { ...old, phase: 'ended', cause: exitCode(137) }, engineWasAway: false });
  }

  #begin(): void {
    this.#life++;
    this.#phase = 'running';
    this.#isHealthy = true;
  }

  #pass(ms: number): void {
    const at = wakeAt(this.healing);
    this.now += at === null ? ms : Math.min(ms, Math.max(0, at - this.now));
    this.#send({ kind: 'woke' });
  }

  #answer(ok: boolean): void {
    const asked = this.#asked;
    if (asked === null) return;
    this.#asked = null;
    const isAnother = asked !== `T${this.#life}`;
    const isWell = this.#phase === 'paused' || (this.#phase === 'running' && this.#isHealthy);
    if (!ok || this.#isAway) {
      this.#send({ kind: 'tried', trial: { kind: 'not-its-fault', why: 'x' }, observation: null });
    } else if (isAnother || isWell) {
      this.#send({ kind: 'called-off', observation: this.#sight() });
    } else {
      this.#begin();
      this.#send({ kind: 'tried', trial: { kind: 'done' }, observation: this.#sight() });
    }
  }
}

test('whatever happens: the budget is kept, nothing is done while the Engine is away, and our own doing never counts', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 80 }), (words) => {
      const world = new World();
      world.say({ kind: 'recover' });
      for (const each of words) {
        world.say(each);
        const { counters } = world.healing;
        expect(counters.restarts.filter((at) => world.now - at < WITHIN_MS).length).toBeLessThanOrEqual(MAX);
        expect(world.faults, 'no more failures were counted than the container had').toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: 2_000 },
  );
});
