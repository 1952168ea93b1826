/** What every store promises (src/supervision/ports/store.ts), whatever is behind it. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { componentName, type RunId } from '../../src/base/pure/ids.ts';
import type { Store } from '../../src/history/ports.ts';
import {
  begunOf,
  crashOf,
  endedOf,
  eventOf,
  exited,
  NOON,
  recordOf,
  runningOf,
  runOf,
  wall,
} from '../support/history-samples.ts';
import { agentRules } from './store-agents.ts';
import { caseRules } from './store-cases.ts';
import { checkRules } from './store-checks.ts';
import { togetherKeptRules, togetherRules, togetherSafeRules } from './store-commits.ts';
import { evidenceRules, probeRules } from './store-probes.ts';
import { sampleRules } from './store-samples.ts';
import { sessionRules } from './store-sessions.ts';

type Open = () => Promise<{ store: Store; dispose(): void }>;

/** `durable: false`: nothing reaches a disk, so nobody may be told that something is safe. All else holds. */
export function storeContract(name: string, open: Open, { durable = true } = {}): void {
  describe(`${name} keeps the store contract`, () => {
    let store: Store;
    let dispose: () => void;
    beforeEach(async () => {
      ({ store, dispose } = await open());
    });
    afterEach(() => {
      store.close();
      dispose();
    });

    const safety = durable ? [durableRules, togetherSafeRules] : [keptRules, togetherKeptRules];
    const all: Readonly<Record<string, readonly ((store: () => Store) => void)[]>> = {
      components: [recordRules],
      [durable ? 'commits that are safe' : 'commits that are not safe']: safety,
      'several commits at once': [togetherRules],
      events: [eventRules],
      runs: [runRules],
      crashes: [crashRules],
      probes: [probeRules],
      samples: [sampleRules],
      'check results': [checkRules],
      sessions: [sessionRules],
      agents: [agentRules],
      'incidents and tickets': [caseRules],
      evidence: [evidenceRules],
      'whatever it is given': [hostileRules],
    };
    describe.each(Object.entries(all))('%s', (_, several) => {
      // Or it could have answered everything out of what it could not write.
      if (durable) afterEach(() => expect(store.health()).toBe('ok'));
      for (const rules of several) rules(() => store);
    });
    describe('after closing', () => closingRules(() => store));
  });
}

function recordRules(store: () => Store): void {
  test('the newest record of each component comes back as it was given', () => {
    const record = runningOf('api', 42);
    const lastExit = { at: NOON, exit: exited(7) };
    const db = recordOf('db', { desired: 'stopped', lastRestart: { at: NOON, reason: 'by hand' }, lastExit });
    store().commit({ record: recordOf('api') });
    store().commit({ record: db });
    store().commit({ record });
    expect(store().components()).toEqual([record, db]);
  });

  test('a component that runs without a pid of its own is kept like any other', () => {
    const record = runningOf('cache', null);
    store().commit({ record });
    expect(store().components()).toEqual([record]);
  });

  test('a forgotten component is gone, its history stays', () => {
    store().commit({ record: recordOf('api'), events: [eventOf('api', 'component.started')] });
    store().forget(componentName('api'));
    expect(store().components()).toEqual([]);
    expect(store().events({ afterSeq: 0, limit: 10 })).toHaveLength(1);
  });

  test('a component that comes back after it was forgotten is there again', () => {
    store().commit({ record: recordOf('api') });
    store().forget(componentName('api'));
    store().commit({ record: recordOf('api', { desired: 'stopped' }) });
    expect(store().components()).toEqual([recordOf('api', { desired: 'stopped' })]);
  });

  test('meta values are kept by key, the last one wins', () => {
    store().setMeta('project', 'one');
    store().setMeta('project', 'two');
    expect(store().meta('project')).toBe('two');
    expect(store().meta('nothing')).toBeNull();
  });
}

function durableRules(store: () => Store): void {
  test('a commit that is safe says so once, and one that fails to listen changes nothing', () => {
    let calls = 0;
    store().commit({ record: recordOf('api'), onDurable: () => (calls += 1) });
    expect(calls).toBe(1);
    const failing = () => {
      throw new Error('not our problem');
    };
    expect(() => store().commit({ record: recordOf('db'), onDurable: failing })).not.toThrow();
    expect(store().components()).toHaveLength(2);
    expect(store().health()).toBe('ok');
  });

  test('whoever is told that a commit is safe may commit again at once', () => {
    const inner = () => void store().commit({ events: [eventOf('api', 'second')] });
    store().commit({ events: [eventOf('api', 'first')], onDurable: inner });
    expect(
      store()
        .events({ afterSeq: 0, limit: 10 })
        .map(({ type }) => type),
    ).toEqual(['first', 'second']);
  });
}

function keptRules(store: () => Store): void {
  test('nobody is told that they are safe, and the health says why', () => {
    let calls = 0;
    store().commit({ record: recordOf('api'), onDurable: () => (calls += 1) });
    expect(calls).toBe(0);
    expect(store().health()).toMatch(/^cannot write \(disk full\), 1 record kept in memory since \d\d:\d\d:\d\d$/);
  });
}

function eventRules(store: () => Store): void {
  test('events are numbered from one without gaps, and given back with their numbers', () => {
    const first = store().commit({ events: [eventOf('api', 'a'), eventOf('db', 'b')] });
    const second = store().commit({
      events: [eventOf('api', 'c', { run: runOf('api'), data: { code: 7, list: ['x'] } })],
    });
    expect([...first, ...second].map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(store().lastSeq()).toBe(3);
    expect(store().events({ afterSeq: 0, limit: 10 })).toEqual([...first, ...second]);
    expect(second[0]).toEqual({
      seq: 3,
      at: '2026-01-02T12:00:00.000Z',
      subject: { kind: 'component', name: 'api' },
      type: 'c',
      run_id: runOf('api'),
      data: { code: 7, list: ['x'] },
    });
  });

  test('events after a number come oldest first, up to the limit', () => {
    store().commit({ events: ['a', 'b', 'c', 'd'].map((type) => eventOf('api', type)) });
    expect(
      store()
        .events({ afterSeq: 1, limit: 2 })
        .map(({ type }) => type),
    ).toEqual(['b', 'c']);
    expect(store().events({ afterSeq: 4, limit: 2 })).toEqual([]);
  });

  test('events of one component leave out the others, and the daemon of the same name', () => {
    const daemon = eventOf('api', 'daemon.started', { subject: { kind: 'daemon', name: 'api' } });
    store().commit({ events: [eventOf('api', 'a'), daemon, eventOf('db', 'b'), eventOf('api', 'c')] });
    const ours = store().events({ afterSeq: 0, limit: 10, component: 'api' });
    expect(ours.map(({ type }) => type)).toEqual(['a', 'c']);
  });
}

function runRules(store: () => Store): void {
  const ended = {
    run: runOf('api'),
    component: 'api',
    begunAt: wall(1_000),
    endedAt: wall(1_500),
    pid: 42,
    planned: false,
    good: false,
    decision: endedOf('api').decision,
    rule: endedOf('api').rule,
    logOffset: null,
  };
  const GOES_ON = { endedAt: null, exit: null, planned: null, good: null, decision: null, rule: null };

  test('a run is one row from its beginning to its end', () => {
    store().commit({ runBegun: begunOf('api') });
    expect(store().run(runOf('api'))).toEqual({ ...ended, ...GOES_ON, pid: null });
    store().commit({ runPid: { run: runOf('api'), pid: 42 } });
    store().commit({ runEnded: endedOf('api') });
    expect(store().runs({ limit: 10 })).toEqual([{ ...ended, exit: exited(1) }]);
    expect(store().run('nobody~000000000000000' as RunId)).toBeNull();
  });

  test('an end that arrives before its beginning still makes one complete row', () => {
    store().commit({ runEnded: endedOf('api') });
    expect(store().run(runOf('api'))).toMatchObject({ begunAt: wall(1_000), endedAt: wall(1_500) });
    store().commit({ runPid: { run: runOf('api'), pid: 42 } });
    store().commit({ runBegun: begunOf('api', 1, { at: wall(990) }) });
    expect(store().runs({ limit: 10 })).toEqual([{ ...ended, begunAt: wall(990), exit: exited(1) }]);
  });

  test('a pid without a beginning is not lost', () => {
    store().commit({ runPid: { run: runOf('api'), pid: 42 } });
    expect(store().run(runOf('api'))).toMatchObject({ component: 'api', pid: 42, endedAt: null });
  });

  test('an end found twice is recorded once, and the first record stays', () => {
    store().commit({ runBegun: begunOf('api'), runEnded: endedOf('api') });
    store().commit({ runBegun: begunOf('api'), runEnded: endedOf('api', 1, { at: wall(9_000), exit: exited(9) }) });
    expect(store().runs({ limit: 10 })).toEqual([{ ...ended, pid: null, exit: exited(1) }]);
  });

  test('runs since a time are those that ended by then or later', () => {
    store().commit({ runBegun: begunOf('api', 1), runEnded: endedOf('api', 1) });
    store().commit({ runBegun: begunOf('api', 2), runEnded: endedOf('api', 2, { at: wall(9_000) }) });
    store().commit({ runBegun: begunOf('api', 3) });
    const since = (ms: number) =>
      store()
        .runs({ component: 'api', since: wall(ms), limit: 10 })
        .map(({ run }) => run);
    expect([since(0), since(1_501), since(9_001)]).toEqual([[runOf('api', 2), runOf('api', 1)], [runOf('api', 2)], []]);
  });

  test('runs come newest first, of one component or of all', () => {
    for (const [name, n] of [
      ['api', 1],
      ['db', 2],
      ['api', 3],
    ] as const)
      store().commit({ runBegun: begunOf(name, n) });
    const names = (component?: string) =>
      store()
        .runs(component === undefined ? { limit: 2 } : { limit: 2, component })
        .map(({ run }) => run);
    expect(names()).toEqual([runOf('api', 3), runOf('db', 2)]);
    expect(names('api')).toEqual([runOf('api', 3), runOf('api', 1)]);
  });

  test('the last good ingredients are those of the newest run that ended well', () => {
    const name = componentName('api');
    expect(store().lastGoodIngredients(name)).toBeNull();
    const begin = (n: number, good?: boolean) => {
      store().commit({ runBegun: begunOf('api', n, { ingredients: { command: `v${n}` } }) });
      if (good !== undefined) store().commit({ runEnded: endedOf('api', n, { good }) });
    };
    begin(1, true);
    begin(2, true);
    begin(3, false);
    begin(4);
    expect(store().lastGoodIngredients(name)).toEqual({ command: 'v2' });
    expect(store().lastGoodIngredients(componentName('db'))).toBeNull();
  });
}

function crashRules(store: () => Store): void {
  test('a crash is listed with all that the list shows', () => {
    const crash = crashOf('api', 1, { errorType: 'ImportError', errorMessage: 'no module', rootCause: 'a cause' });
    store().commit({ crash });
    expect(store().crashes({})).toEqual([
      {
        id: 1,
        subject: { kind: 'component', name: 'api' },
        run_id: runOf('api'),
        at: '2026-01-02T12:00:01.500Z',
        uptime_ms: 500,
        exit: exited(1),
        error_type: 'ImportError',
        error_message: 'no module',
        root_cause: 'a cause',
        fingerprint: null,
        agent_type: null,
        task_id: null,
        agent_pid: null,
        decision: 'restart in 1 s (1 of 10 in 10 min)',
        incident: null,
        ticket: null,
      },
    ]);
  });

  test('why tells everything about the newest crash of a component, or about the one with an id', () => {
    store().commit({ crash: crashOf('api', 1) });
    const freeze = {
      reason: 'no heartbeat for 5 m',
      silent_since: '2026-01-02T03:04:05.678Z',
      steps: [{ at: '2026-01-02T03:09:15.678Z', text: 'SIGINT' }],
      evidence: ['pid 12 (worker) sleeps in futex_wait'],
    };
    store().commit({ crash: crashOf('api', 2, { logTail: ['newer'], freeze }) });
    expect(store().why({ component: 'api' })).toMatchObject({ id: 2, log_tail: ['newer'], freeze });
    expect(store().why({ id: 1 })).toEqual({
      schema_version: 1,
      ...store().crashes({})[1],
      log_tail: ['first line', 'last line'],
      stack: [],
      related_files: [],
      earlier_error: null,
      probes: [],
      freeze: null,
      dependencies: [{ name: 'db', condition: 'ready', state: 'running', ready: true }],
      changed_since_good: ['env LOG_LEVEL'],
      rule: { name: 'backoff', counters: { restarts_in_window: 4, failures: 1, spawn_errors: 2, total: 3 } },
    });
    expect(store().why({ component: 'db' })).toBeNull();
    expect(store().why({ id: 99 })).toBeNull();
  });

  test('the same crash of a run recorded twice is one crash', () => {
    store().commit({ crash: crashOf('api', 1) });
    store().commit({ crash: crashOf('api', 1, { decision: 'another' }) });
    expect(
      store()
        .crashes({})
        .map(({ decision }) => decision),
    ).toEqual(['restart in 1 s (1 of 10 in 10 min)']);
  });

  test('crashes come newest first, by component, time and limit', () => {
    for (const [name, n] of [
      ['api', 1],
      ['db', 2],
      ['api', 3],
      ['api', 4],
    ] as const)
      store().commit({ crash: crashOf(name, n) });
    const runs = (query: Parameters<Store['crashes']>[0]) =>
      store()
        .crashes(query)
        .map(({ run_id }) => run_id);
    expect(runs({ limit: 2 })).toEqual([runOf('api', 4), runOf('api', 3)]);
    expect(runs({ component: 'api' })).toEqual([runOf('api', 4), runOf('api', 3), runOf('api', 1)]);
    expect(runs({ since: wall(2_500) })).toEqual([runOf('api', 4), runOf('api', 3), runOf('db', 2)]);
    expect(runs({ component: 'api', since: wall(2_501), limit: 1 })).toEqual([runOf('api', 4)]);
    expect(runs({ limit: 0 })).toEqual([]);
  });
}

function hostileRules(store: () => Store): void {
  test.each([
    ['quotes', `'; DROP TABLE events; --"`],
    ['line breaks and escapes', 'a\nb\u001b[31m\r'],
    ['half a surrogate', 'a\ud800b'],
    ['emoji', '💥'],
    ['a megabyte', 'x'.repeat(1_000_000)],
  ])('log lines and data with %s come back as they were', (_, text) => {
    store().commit({
      crash: crashOf('api', 1, { logTail: [text] }),
      events: [eventOf('api', 't', { data: { text } })],
    });
    expect(store().why({ id: 1 })?.log_tail).toEqual([text]);
    expect(store().events({ afterSeq: 0, limit: 1 })[0]?.data).toEqual({ text });
  });

  test('a NUL does not cut off what follows it', () => {
    store().commit({ crash: crashOf('api', 1, { errorMessage: 'before\0after', logTail: ['before\0after'] }) });
    expect(store().why({ id: 1 })?.error_message).toMatch(/^before.after$/s);
    expect(store().why({ id: 1 })?.log_tail).toEqual(['before\0after']);
  });

  test('data that no JSON can hold, and times that are none, do not stop a commit', () => {
    const circular: Record<string, unknown> = { big: 1n };
    circular['self'] = circular;
    const odd = eventOf('api', 'odd', { data: circular, at: Number.NaN as never });
    expect(() =>
      store().commit({ record: recordOf('api'), events: [odd], crash: crashOf('api', 1, { uptimeMs: 1.6 }) }),
    ).not.toThrow();
    expect(store().components()).toHaveLength(1);
    expect(store().events({ afterSeq: 0, limit: 1 })).toMatchObject([{ seq: 1, type: 'odd' }]);
    expect(store().crashes({})).toMatchObject([{ uptime_ms: 2 }]);
  });

  test('limits that make no sense give nothing or everything, never an error', () => {
    store().commit({ crash: crashOf('api'), runBegun: begunOf('api'), events: [eventOf('api', 'a')] });
    for (const [limit, length] of [
      [-1, 0],
      [Number.NaN, 0],
      [0.5, 0],
      [Infinity, 1],
      [2 ** 60, 1],
    ] as const) {
      expect(store().crashes({ limit })).toHaveLength(length);
      expect(store().runs({ limit })).toHaveLength(length);
      expect(store().events({ afterSeq: 0, limit })).toHaveLength(length);
    }
  });
}

function closingRules(store: () => Store): void {
  test('closing twice, and committing after closing, do no harm', () => {
    store().close();
    expect(() => store().close()).not.toThrow();
    expect(() => store().commit({ events: [eventOf('api', 'late')] })).not.toThrow();
  });
}
