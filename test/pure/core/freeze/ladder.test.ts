import { describe, expect, test } from 'vitest';
import type { Findings } from '../../../../src/supervision/rules/freeze/freeze.ts';
import type { HeartbeatSpec } from '../../../../src/supervision/rules/freeze/heartbeat.ts';
import { next, wakeAt } from '../../../../src/supervision/rules/lifecycle/next.ts';
import {
  type ComponentEvent,
  type Effect,
  FRESH,
  INITIAL,
  type In,
} from '../../../../src/supervision/rules/lifecycle/state.ts';
import { componentView, type Facts } from '../../../../src/supervision/rules/status.ts';
import { restore } from '../../../../src/supervision/rules/time.ts';
import type { ComponentSpec } from '../../../../src/supervision/spec.ts';
import { exitCode, killedBy, mono, restartSpec, run, spec } from '../../../support/builders.ts';

const PING: HeartbeatSpec = { source: { kind: 'ping' }, freezeAfterMs: 300_000, dumpSignal: null };
const SECOND = 1_000;
const RUN = run('a~000000001000001');
const NOTHING: Findings = { busy: null, stopped: null, evidence: ['12 (node), main process: waiting'] };

/** One component from its start on; `said` are the effects of each step, in short. */
class Story {
  component = INITIAL;
  now = 1_000_000;
  said: string[] = [];
  last: readonly Effect[] = [];
  readonly spec: ComponentSpec;

  constructor(over: Partial<ComponentSpec> = {}) {
    this.spec = spec('a', { heartbeat: PING, ...over });
    this.is({ kind: 'start-requested', fresh: true });
    this.is({ kind: 'started', run: RUN, pid: 12, at: mono(this.now) });
    this.said = [];
  }

  is(event: ComponentEvent): this {
    const context = { now: mono(this.now), random: 0, newRun: RUN, unmet: [], policy: this.spec };
    const { component, effects } = next(this.component, event, context);
    this.component = component;
    this.last = effects;
    this.said.push(...effects.map(short));
    return this;
  }
  after(ms: number, event: ComponentEvent): this {
    this.now += ms;
    return this.is(event);
  }
  silent(note: string | null = null): this {
    return this.after(300 * SECOND, { kind: 'silent', run: RUN, since: mono(this.now), note });
  }
  examined(found: Partial<Findings> = {}): this {
    return this.after(3 * SECOND, { kind: 'examined', run: RUN, ...NOTHING, ...found });
  }
  due(): this {
    const { state } = this.component;
    const until = state.kind === 'running' ? state.freeze!.until : wakeAt(state)!;
    this.now = Math.max(this.now, until);
    return this.is(state.kind === 'running' ? { kind: 'still-silent', run: RUN } : { kind: 'woke' });
  }
  dies(cause = killedBy('SIGKILL')): this {
    return this.is({ kind: 'exited', run: RUN, at: mono(this.now), cause, leftovers: [] });
  }
  get state() {
    return this.component.state;
  }
  get end() {
    const [found] = this.last.filter((effect) => effect.kind === 'end-run');
    return found!.end;
  }
  get view() {
    const facts: Facts = {
      ...{ spec: this.spec, component: this.component, desired: 'running', adopted: false, startedAt: null },
      ...{ lastRestart: null, lastExit: null, unmet: [], survivors: [], treeMechanism: null, shim: null, probes: [] },
      ...{ heartbeat: null, sample: null, limits: [], condition: null },
    };
    return componentView(facts, { now: mono(this.now), wall: 0 as never });
  }
}

const short = (effect: Effect): string => {
  if (effect.kind === 'tell') return effect.type.replace('component.', '');
  if (effect.kind === 'signal') return effect.signal;
  return effect.kind === 'examine' ? `examine ${effect.dump ?? ''}`.trim() : effect.kind;
};

describe('the ladder', () => {
  test('note, evidence, SIGINT after 10 s, the stop signal after 20 s, SIGKILL after the grace, then the policy', () => {
    const story = new Story();
    const began = story.silent().now;
    expect(story.view).toMatchObject({ condition: 'frozen', state: 'running', health: 'healthy' });
    expect(story.view.note).toBe('frozen: no heartbeat for 5 min; it is ended in 10 s unless it beats');
    story.examined().due();
    expect(story.now - began).toBe(10 * SECOND);
    expect(story.view.note).toBe('frozen: no heartbeat for 5 min; SIGINT sent, SIGTERM follows within 10 s');
    story.due();
    expect(story.now - began).toBe(20 * SECOND);
    story.due();
    expect(story.now - began).toBe(30 * SECOND);
    expect(story.view.condition).toBe('frozen');
    story.dies();
    expect(story.said).toEqual([
      ...['frozen', 'examine', 'examined', 'stopping', 'SIGINT', 'stopping', 'SIGTERM', 'killed', 'kill-tree'],
      ...['exited', 'end-run', 'backing-off'],
    ]);
    expect(story.end).toMatchObject({ crash: true, rule: 'backoff', unhealthy: 'frozen: no heartbeat for 5 min' });
    expect(story.end.freeze?.evidence).toEqual(NOTHING.evidence);
    expect(story.end.freeze?.steps.map(({ at, text }) => `${(at - began) / SECOND} ${text}`)).toEqual([
      '0 no heartbeat for 5 min',
      '3 its processes were examined: they are idle',
      '10 SIGINT sent',
      '20 SIGTERM sent',
      '30 SIGKILL sent to all its processes',
    ]);
  });

  test('an end at SIGINT is enough, and counts in the one budget whatever its code', () => {
    const story = new Story({ restart: restartSpec({ policy: 'on-failure', neverOn: [130] }) });
    story.silent().examined().due().dies(exitCode(130));
    expect(story.end).toMatchObject({ crash: true, rule: 'backoff' });
    expect(story.component.counters.restarts).toHaveLength(1);
  });

  test.each(['noted', 'examined', 'busy'])('a beat ends the alarm: when %s', (when) => {
    const story = new Story().silent();
    if (when !== 'noted') story.examined(when === 'busy' ? { busy: 'busy: 3 s of CPU in 3 s' } : {});
    story.after(SECOND, { kind: 'beat', run: RUN });
    expect(story.said.at(-1)).toBe('thawed');
    expect(story.state).not.toHaveProperty('freeze');
    expect(story.view).toMatchObject({ condition: null, note: null });
    story.after(60 * SECOND, { kind: 'still-silent', run: RUN });
    expect(story.state.kind).toBe('running');
  });

  test('after the signal it is too late', () => {
    const story = new Story().silent().examined().due();
    story.after(SECOND, { kind: 'beat', run: RUN });
    expect(story.state).toMatchObject({ kind: 'stopping', stage: 'interrupted' });
  });

  test('who is busy gets freeze_after once more, is looked at again, and not a third time', () => {
    const story = new Story();
    const began = story.silent().now;
    story.examined({ busy: 'busy: 3 s of CPU in 3 s' });
    expect(story.view.note).toBe('frozen: no heartbeat for 5 min; it is busy and has 4 min 57 s more');
    story.after(10 * SECOND, { kind: 'still-silent', run: RUN });
    expect(story.state.kind).toBe('running');
    story.due();
    expect(story.said.slice(-1)).toEqual(['examine']);
    story.examined({ busy: 'busy: 3 s of CPU in 3 s', evidence: ['later'] }).due();
    expect(story.state).toMatchObject({ kind: 'stopping', stage: 'interrupted' });
    expect(story.now - began).toBe(310 * SECOND);
    expect((story.state as In<'stopping'>).freeze?.evidence).toEqual(['later']);
  });

  test('nothing is ended before somebody has looked, unless looking takes for ever', () => {
    const story = new Story().silent().due();
    expect(story.state.kind).toBe('running');
    story.after(20 * SECOND, { kind: 'still-silent', run: RUN });
    expect(story.state).toMatchObject({ stage: 'interrupted' });
  });

  test('a stopped process is said to be stopped', () => {
    const story = new Story().silent().examined({ stopped: 'its process is stopped (SIGSTOP)' });
    const reason = 'frozen: its process is stopped (SIGSTOP), no heartbeat for 5 min';
    expect((story.state as In<'running'>).freeze?.reason).toBe(reason);
    expect(story.due().dies().end.unhealthy).toBe(reason);
  });

  test('a heartbeat that cannot be right is named', () => {
    const story = new Story().silent('state.json has no field last_update');
    expect(story.view.note).toContain('frozen: no heartbeat for 5 min (state.json has no field last_update)');
  });

  test('the dump signal is asked for, and a death of it is no death of its own', () => {
    const story = new Story({ heartbeat: { ...PING, dumpSignal: 'SIGQUIT' } }).silent();
    expect(story.said).toEqual(['frozen', 'examine SIGQUIT']);
    expect(story.dies(exitCode(2)).end).toMatchObject({ unhealthy: 'frozen: no heartbeat for 5 min', crash: true });
  });

  test('without it, a death is its own, and the evidence is kept with it', () => {
    const story = new Story().silent().examined().dies(exitCode(2));
    expect(story.end).toMatchObject({ unhealthy: null, freeze: { evidence: NOTHING.evidence } });
  });

  test('the time it was silent is no healthy time', () => {
    const story = new Story({ restart: restartSpec({ backoff: { resetAfterMs: 200 * SECOND } }) });
    const { healthyMs } = story.silent().examined().due().dies().end;
    expect(healthyMs).toBe(0);
  });

  test.each([
    ['stop', 'stay-stopped', { kind: 'stop-requested' }],
    ['restart', 'start-again', { kind: 'restart-requested', byHand: true }],
  ] as const)('a %s by hand does not wait for the steps', (_what, goal, event) => {
    const story = new Story().silent().examined().due();
    story.after(SECOND, event);
    expect(story.state).toMatchObject({ kind: 'stopping', stage: 'asked', goal });
    expect(story.said.at(-1)).toBe('SIGTERM');
  });

  test('another configuration ends the alarm', () => {
    const story = new Story().silent().is({ kind: 'probes-changed' });
    expect(story.said.at(-1)).toBe('thawed');
    expect(story.state).not.toHaveProperty('freeze');
  });

  test('nothing is noted before its startup probe has passed, nor without a heartbeat', () => {
    const { heartbeat: _, ...without } = spec('a');
    const story = new Story({ ...without, heartbeat: undefined as never }).silent();
    expect(story.said).toEqual([]);
    expect(story.component.counters).toEqual(FRESH);
  });
});

describe('something external', () => {
  const external = (recover: readonly string[] | null): Partial<ComponentSpec> => ({
    driver: {
      ...{ kind: 'external', recover, cwd: '/', env: {}, envFiles: [] },
      target: { kind: 'pid-file', path: '/run/a.pid' },
    },
  });

  test('is not signalled, but brought back by its command', () => {
    const story = new Story(external(['systemctl', 'restart', 'a'])).silent().examined().due();
    expect(story.state).toMatchObject({ kind: 'stopping', stage: 'asked', goal: 'decide' });
    expect((story.state as In<'stopping'>).freeze?.steps.at(-1)?.text).toBe('its recovery command is next');
  });

  test('that is only observed stays frozen until it is heard', () => {
    const story = new Story(external(null)).silent().examined().due();
    expect(story.state.kind).toBe('running');
    expect(story.view).toMatchObject({
      condition: 'frozen',
      note: 'frozen: no heartbeat for 5 min; it is only watched, so nothing is done',
    });
    expect(story.is({ kind: 'beat', run: RUN }).said.at(-1)).toBe('thawed');
  });
});

describe('another daemon', () => {
  const boot = 'boot' as never;

  test('goes on with the alarm, gives the step its time again, and looks if nobody has', () => {
    const story = new Story().silent();
    story.now += 60 * SECOND;
    story.component = restore(story.component, boot, boot, mono(story.now));
    story.is({ kind: 'still-silent', run: RUN });
    expect(story.state).toMatchObject({ kind: 'running', freeze: { until: story.now + 10 * SECOND } });
    story.is({ kind: 'started', run: RUN, pid: 12, at: mono(story.now) });
    expect(story.said.at(-1)).toBe('examine');
    expect(story.examined().due().said.at(-1)).toBe('SIGINT');
  });

  test('goes on after SIGINT, too', () => {
    const story = new Story().silent().examined().due();
    story.component = restore(JSON.parse(JSON.stringify(story.component)), boot, boot, mono(story.now));
    expect(story.due().said.at(-1)).toBe('SIGTERM');
  });
});
