/** What the core makes of containers: Docker's word about their health, an Engine that is away, and what is cleaned up. */
import { describe, expect, test } from 'vitest';
import type { HealthVerdict } from '../../../src/supervision/rules/container-health.ts';
import { NO_PROBES } from '../../../src/supervision/rules/health/probe.ts';
import { newHealth } from '../../../src/supervision/rules/health/run-health.ts';
import { next } from '../../../src/supervision/rules/lifecycle/next.ts';
import {
  type Component,
  type ComponentEvent,
  type Context,
  FRESH,
} from '../../../src/supervision/rules/lifecycle/state.ts';
import { unseen } from '../../../src/supervision/rules/lifecycle/when-held.ts';
import { KILL_WAIT_MS } from '../../../src/supervision/rules/lifecycle/when-stopping.ts';
import { conditionHolds, healthOf } from '../../../src/supervision/rules/status.ts';
import type { ContainerSpec } from '../../../src/supervision/spec.ts';
import { isActive } from '../../../src/supervision/stop-order.ts';
import { mono, restartSpec, run, spec } from '../../support/builders.ts';

const CONTAINER: ContainerSpec = {
  ...{ kind: 'container', image: 'img', pull: 'never', containerName: null, command: null, entrypoint: null },
  ...{ user: null, workdir: null, labels: {}, network: null, ports: [], volumes: [], healthcheck: null },
  ...{ cleanup: 'keep', cwd: '/', env: {}, envFiles: [] },
};
const RUN = run('web~000000000000000');
const policy = spec('web', { driver: CONTAINER });
const context = (over: Partial<Context> = {}): Context => ({
  ...{ now: mono(1_000), random: 0, newRun: run('web~000000000000001'), unmet: [], policy },
  ...over,
});
const said = (status: HealthVerdict['status'], reason = ''): ComponentEvent => ({
  kind: 'docker-health',
  run: RUN,
  verdict: { status, reason },
});
const starting: Component = {
  state: { kind: 'starting', run: RUN, since: mono(0), attempt: 'first' },
  counters: FRESH,
};
const started = (health?: HealthVerdict['status']): ComponentEvent => ({
  ...{ kind: 'started', run: RUN, pid: 7, at: mono(500) },
  ...(health ? { health: { status: health, reason: '' } } : {}),
});
const told = (effects: readonly { kind: string }[]) =>
  effects.flatMap((effect) => ('type' in effect ? [String(effect.type)] : []));
const passing = (component: Component, ...events: readonly ComponentEvent[]): Component =>
  events.reduce((before, event) => next(before, event, context()).component, component);

describe("Docker's own health check", () => {
  test('is waited for: until it says healthy, the container is neither healthy nor ready', () => {
    const begun = next(starting, started('starting'), context());
    expect(healthOf(begun.component.state)).toEqual({ health: 'starting', ready: false });
    expect(told(begun.effects)).toEqual(['component.started']);
    const healthy = next(begun.component, said('healthy'), context());
    expect(healthOf(healthy.component.state)).toEqual({ health: 'healthy', ready: true });
    expect(told(healthy.effects)).toEqual(['component.healthy', 'component.ready']);
  });

  test('ends the run with its first "unhealthy", and its last words are the reason', () => {
    const up = passing(starting, started('starting'), said('healthy'));
    const { component, effects } = next(
      up,
      said('unhealthy', 'health check failed 3 times: exit 1: refused'),
      context(),
    );
    expect(component.state).toMatchObject({
      kind: 'stopping',
      goal: 'decide',
      unhealthy: 'health check failed 3 times: exit 1: refused',
    });
    expect(effects).toContainEqual({ kind: 'signal', run: RUN, signal: 'SIGTERM' });
  });

  test('leaves nothing known when it says nothing that can be believed: not ready, not restarted, and ready when it speaks again', () => {
    const up = passing(starting, started('starting'), said('healthy'));
    const forgotten = next(up, said('unknown', 'it has not run for long'), context({ now: mono(2_000) }));
    expect(healthOf(forgotten.component.state)).toEqual({ health: 'unknown', ready: false });
    expect(told(forgotten.effects)).toEqual(['component.not-ready']);
    expect(forgotten.component.state).toMatchObject({
      kind: 'running',
      health: { healthySince: 1_000, unknown: { since: 2_000, why: 'it has not run for long' } },
    });
    const again = next(forgotten.component, said('healthy'), context({ now: mono(3_000) }));
    expect(again.component).toEqual(up);
    expect(told(again.effects)).toEqual(['component.ready']);
  });

  test('changes nothing when there is none', () => {
    expect(healthOf(passing(starting, started()).state)).toEqual({ health: 'healthy', ready: true });
    const off = passing(starting, started('starting'), said('none'));
    expect(healthOf(off.state)).toEqual({ health: 'healthy', ready: true });
  });

  test('only colours what is merely observed', () => {
    const target = { kind: 'container', name: 'theirs' } as const;
    const external = { kind: 'external', target, recover: null, cwd: '/', env: {}, envFiles: [] } as const;
    const observed = context({ policy: spec('web', { driver: external }) });
    const up = next(starting, started('healthy'), observed).component;
    const { component } = next(up, said('unhealthy', 'no'), observed);
    expect(component.state.kind).toBe('running');
    expect(healthOf(component.state)).toEqual({ health: 'unhealthy', ready: false });
  });

  test('is not expected in what an older version has stored', () => {
    const { docker: _, ...stored } = newHealth(NO_PROBES, mono(0), { status: 'none', reason: '' });
    expect(stored).toEqual(newHealth(NO_PROBES, mono(0)));
  });
});

const held = (why: string | null): ComponentEvent => ({ kind: 'held', run: RUN, why });

describe('a run of which nothing can be asked', () => {
  const up = passing(starting, started('starting'), said('healthy'));
  const stoppingRun = passing(up, { kind: 'stop-requested' });

  test.each([
    { of: 'a running one', component: up, told: ['component.not-ready'] },
    { of: 'one that is starting', component: starting, told: [] },
    { of: 'one that is being stopped', component: stoppingRun, told: [] },
  ])(
    '$of is unknown, with the reason and since when, ready for nobody, and goes on',
    ({ component, told: expected }) => {
      const { component: after, effects } = next(component, held('no answer'), context({ now: mono(2_000) }));
      expect(after.state.kind).toBe(component.state.kind);
      expect(healthOf(after.state)).toEqual({ health: 'unknown', ready: false });
      expect(after.state).toMatchObject({ hold: { why: 'no answer', since: 2_000 } });
      expect(told(effects)).toEqual(expected);
      expect(effects.every(({ kind }) => kind === 'tell')).toBe(true);
    },
  );

  test.each(['started', 'ready', 'completed'] as const)('satisfies nobody who waits for it to be %s', (condition) => {
    expect(conditionHolds(condition, passing(up, held('no answer')).state)).toBe(false);
  });

  test('is as it was when it can be asked again, and that is told', () => {
    const { component, effects } = next(passing(up, held('no answer')), held(null), context());
    expect(component).toEqual(up);
    expect(told(effects)).toEqual(['component.ready']);
  });

  test('is unknown since the first reason, also when that changes, and when it is being stopped', () => {
    const first = next(up, held('no answer'), context({ now: mono(2_000) })).component;
    const second = next(first, held('no such socket'), context({ now: mono(3_000) }));
    expect(second.component.state).toMatchObject({ hold: { why: 'no such socket', since: 2_000 } });
    expect(told(second.effects)).toEqual([]);
    const stopped = next(second.component, { kind: 'stop-requested' }, context({ now: mono(4_000) }));
    expect(stopped.component.state).toMatchObject({ kind: 'stopping', hold: { since: 2_000 } });
  });

  test('is not ready by the word of a probe that was under way', () => {
    const notReady = passing(starting, started('starting'), held('no answer'));
    const { component, effects } = next(notReady, said('healthy'), context());
    expect(told(effects)).toEqual(['component.healthy']);
    expect(healthOf(component.state).ready).toBe(false);
    expect(told(next(component, held(null), context()).effects)).toEqual(['component.ready']);
  });

  test('is another run: nothing is believed of it', () => {
    expect(
      next(up, { ...held('no answer'), run: run('web~000000000000009') } as ComponentEvent, context()).component,
    ).toBe(up);
  });

  test('of an earlier daemon is unknown until it was seen, and nobody is bothered with that', () => {
    const taken = unseen(up, mono(5_000));
    expect(healthOf(taken.state)).toEqual({ health: 'unknown', ready: false });
    const found = next(taken, started(), context());
    expect(found.component).toEqual(up);
    expect(told(found.effects)).toEqual([]);
    const away = next(taken, held('no answer'), context({ now: mono(6_000) }));
    expect(away.component.state).toMatchObject({ hold: { why: 'no answer', since: 5_000 } });
    expect(told(away.effects)).toEqual(['component.not-ready']);
  });
});

const BY_ENGINE = { kind: 'engine', why: 'the Engine was restarted' } as const;
const exited = (cause: Extract<ComponentEvent, { kind: 'exited' }>['cause']): ComponentEvent => ({
  ...{ kind: 'exited', run: RUN, at: mono(900), cause, leftovers: [] },
});

describe('an Engine that goes away', () => {
  test('costs a container that ended with it neither its budget nor a crash', () => {
    const counters = { restarts: [mono(1)], failures: 2, spawnErrors: 0, total: 1 };
    const up = { ...passing(starting, started()), counters };
    const { component, effects } = next(up, exited(BY_ENGINE), context());
    expect(component).toMatchObject({ state: { kind: 'starting' }, counters: { ...counters, total: 2 } });
    expect(effects).toContainEqual(
      expect.objectContaining({
        kind: 'end-run',
        end: expect.objectContaining({ crash: false, rule: 'engine-restart' }),
      }),
    );
  });

  test('does not bring back what is never to be restarted', () => {
    const never = context({ policy: { ...policy, restart: restartSpec({ policy: 'never' }) } });
    expect(next(passing(starting, started()), exited(BY_ENGINE), never).component.state).toMatchObject({
      kind: 'gave-up',
    });
  });

  test('stops the clock of a stop: nothing is called unkillable that could not be asked, and nobody is held up', () => {
    const killed: Component = {
      state: {
        ...{
          kind: 'stopping',
          run: RUN,
          pid: 7,
          startedAt: mono(0),
          attempt: 'first',
          stage: 'killed',
          until: mono(900),
        },
        ...{ goal: 'stay-stopped', healthySince: null, unhealthy: null, ended: null },
      },
      counters: FRESH,
    };
    const blind = next(killed, { kind: 'woke' }, context({ blind: true }));
    expect(blind.component.state).toMatchObject({ stage: 'killed', until: 1_000 + KILL_WAIT_MS, stalled: true });
    expect(blind.effects).toEqual([]);
    expect(isActive(blind.component.state)).toBe(false);
    const seeing = next(blind.component, { kind: 'woke' }, context({ now: mono(60_000) }));
    expect(seeing.component.state).toMatchObject({ stage: 'unkillable' });
    expect(seeing.component.state).not.toHaveProperty('stalled');
  });
});

test('what gave up is cleaned up when the configuration says so, and kept otherwise', () => {
  const restart = restartSpec({ limit: { max: 0 } });
  const end = (cleanup: 'keep' | 'remove') => {
    const driver = { ...CONTAINER, cleanup };
    const { component, effects } = next(
      passing(starting, started()),
      exited({ kind: 'code', code: 1, ambiguous: false }),
      context({ policy: { ...policy, driver, restart } }),
    );
    expect(component.state.kind).toBe('gave-up');
    return effects.filter(({ kind }) => kind === 'clean-up');
  };
  expect(end('keep')).toEqual([]);
  expect(end('remove')).toEqual([{ kind: 'clean-up', run: RUN }]);
});

describe('a container that is to be made anew', () => {
  const restart: ComponentEvent = { kind: 'restart-requested', byHand: true };
  const gone = exited({ kind: 'code', code: 0, ambiguous: false });

  test.each([
    { of: 'what runs', events: [started(), { kind: 'anew-requested' }, restart, gone] },
    {
      of: 'what is stopped',
      events: [started(), { kind: 'stop-requested' }, gone, { kind: 'anew-requested' }, restart],
    },
    {
      of: 'what is being stopped',
      events: [started(), { kind: 'stop-requested' }, { kind: 'anew-requested' }, restart, gone],
    },
  ] as readonly { of: string; events: readonly ComponentEvent[] }[])(
    'of $of: the next run knows it, and the one after it does not',
    ({ events }) => {
      const asked = passing(starting, ...events);
      expect(asked).toMatchObject({ state: { kind: 'starting' }, counters: { anew: true } });
      const { run: again } = asked.state as { run: typeof RUN };
      const begun = passing(asked, { ...started(), run: again } as ComponentEvent);
      expect(begun).toMatchObject({ state: { kind: 'running' }, counters: FRESH });
      expect('anew' in begun.counters).toBe(false);
    },
  );
});
