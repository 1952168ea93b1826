import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HeartbeatSpec } from '../../../src/supervision/rules/freeze/heartbeat.ts';
import { type ProbeSpec, ROLES, type Role } from '../../../src/supervision/rules/health/probe.ts';
import type { ComponentSpec } from '../../../src/supervision/spec.ts';
import { exitCode, killedBy, restartSpec, spec, UNKNOWN } from '../../support/builders.ts';
import { type Choice, LifecycleWorld } from '../../support/lifecycle-world.ts';

const cause = fc.constantFrom(
  exitCode(0),
  exitCode(1),
  exitCode(78),
  exitCode(130),
  killedBy('SIGKILL'),
  killedBy('SIGILL'),
  UNKNOWN,
);

const PROBE: ProbeSpec = {
  question: { kind: 'tcp', host: '127.0.0.1', port: 80 },
  periodMs: 10_000,
  timeoutMs: 1_000,
  initialDelayMs: 0,
  failureThreshold: 3,
  successThreshold: 1,
};

const HEARTBEAT: HeartbeatSpec = { source: { kind: 'ping' }, freezeAfterMs: 60_000, dumpSignal: null };

const plain = (
  what: Exclude<
    Choice,
    { ms: number } | { cause: unknown } | { heals: boolean } | { role: Role } | { busy: boolean }
  >['do'],
  weight: number,
) => ({
  weight,
  arbitrary: fc.constant<Choice>({ do: what }),
});

const choice: fc.Arbitrary<Choice> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(0, 1, 500, 1_000, 5_000, 10_000, 60_000, 700_000, 1_000_000),
    }),
  },
  plain('confirm', 8),
  { weight: 6, arbitrary: fc.record({ do: fc.constant('die' as const), cause, leaves: fc.constantFrom(0, 0, 0, 2) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('probe' as const),
      role: fc.constantFrom(...ROLES),
      pass: fc.constantFrom(true, true, true, false),
    }),
  },
  plain('tree-gone', 4),
  plain('too-much-memory', 2),
  plain('silence', 3),
  plain('still-silent', 6),
  plain('beat', 1),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('examined' as const), busy: fc.boolean() }) },
  plain('start', 3),
  plain('bring-back', 1),
  plain('stop', 2),
  plain('restart', 2),
  plain('dependency-restarted', 1),
  plain('toggle-dependency', 1),
  plain('stale', 1),
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail-to-start' as const), heals: fc.boolean() }) },
);

const specs: fc.Arbitrary<ComponentSpec> = fc
  .record({
    policy: fc.constantFrom('always' as const, 'on-failure' as const, 'never' as const),
    max: fc.constantFrom(0, 1, 2, 10),
    retryMs: fc.constantFrom(null, 1_000, 900_000),
    initialMs: fc.constantFrom(0, 1_000),
    jitterRatio: fc.constantFrom(0, 0.1, 1),
    minUptimeMs: fc.constantFrom(0, 10_000),
    startup: fc.constantFrom(null, PROBE),
    liveness: fc.constantFrom(null, PROBE),
    readiness: fc.constantFrom(null, PROBE),
    hasHeartbeat: fc.boolean(),
  })
  .map(({ policy, max, retryMs, initialMs, jitterRatio, minUptimeMs, hasHeartbeat, ...probes }) =>
    spec('a', {
      minUptimeMs,
      probes,
      ...(hasHeartbeat ? { heartbeat: HEARTBEAT } : {}),
      restart: restartSpec({
        policy,
        limit: { max, retryMs, withinMs: 600_000 },
        backoff: { initialMs, jitterRatio },
        neverOn: [78, 'SIGILL'],
      }),
    }),
  );

describe('whatever happens, in whatever order', () => {
  test('the promises of the lifecycle hold over at least a million steps', () => {
    let steps = 0;
    fc.assert(
      fc.property(specs, fc.array(choice, { minLength: 200, maxLength: 400 }), fc.integer(), (aSpec, choices, seed) => {
        const world = new LifecycleWorld(aSpec, seeded(seed));
        for (const each of choices) world.play(each);
        steps += world.steps;
      }),
      { numRuns: 8_000 },
    );
    expect(steps).toBeGreaterThan(1_000_000);
  });

  test('every order of events up to depth twelve keeps the promises', () => {
    const choices: readonly Choice[] = [
      { do: 'pass', ms: 10_000 },
      { do: 'confirm' },
      { do: 'die', cause: exitCode(1), leaves: 0 },
      { do: 'die', cause: exitCode(0), leaves: 1 },
      { do: 'tree-gone' },
      { do: 'start' },
      { do: 'stop' },
      { do: 'restart' },
      { do: 'toggle-dependency' },
      { do: 'fail-to-start', heals: false },
      { do: 'probe', role: 'startup', pass: true },
      { do: 'probe', role: 'liveness', pass: true },
      { do: 'probe', role: 'liveness', pass: false },
      { do: 'probe', role: 'readiness', pass: true },
      { do: 'too-much-memory' },
    ];
    const aSpec = spec('a', {
      probes: { startup: PROBE, liveness: PROBE, readiness: PROBE },
      restart: restartSpec({ limit: { max: 1, retryMs: 10_000 }, backoff: { initialMs: 0 } }),
    });
    expect(explore(aSpec, choices, 12)).toBeGreaterThan(1_000);
  });

  test('every order of an alarm up to depth seven keeps the promises', () => {
    const choices: readonly Choice[] = [
      { do: 'pass', ms: 10_000 },
      { do: 'pass', ms: 60_000 },
      { do: 'confirm' },
      { do: 'silence' },
      { do: 'examined', busy: true },
      { do: 'examined', busy: false },
      { do: 'still-silent' },
      { do: 'beat' },
      { do: 'die', cause: exitCode(0), leaves: 1 },
      { do: 'tree-gone' },
      { do: 'start' },
      { do: 'stop' },
    ];
    expect(explore(spec('a', { heartbeat: HEARTBEAT }), choices, 7)).toBeGreaterThan(1_000);
  });
});

/** Plays every sequence up to `depth`, but goes on only once from each situation reached: the rest would be the same. */
function explore(aSpec: ComponentSpec, choices: readonly Choice[], depth: number): number {
  let frontier: (readonly Choice[])[] = [[]];
  const seen = new Set<string>();
  let played = 0;
  for (let level = 0; level < depth; level++) {
    const following: (readonly Choice[])[] = [];
    for (const path of frontier) {
      for (const each of choices) {
        const world = new LifecycleWorld(aSpec, () => 0.5);
        for (const before of [...path, each]) world.play(before);
        played += 1;
        const situation = world.situation();
        if (seen.has(situation)) continue;
        seen.add(situation);
        following.push([...path, each]);
      }
    }
    frontier = following;
  }
  return played;
}

function seeded(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
