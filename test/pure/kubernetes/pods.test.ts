import { describe, expect, test } from 'vitest';
import { NewLines } from '../../../src/kubernetes/rules/log-lines.ts';
import {
  joinEvents,
  type Life,
  nextLife,
  observe,
  type PodFacts,
  podFacts,
  type RawPod,
  type Terminated,
  whyNotYet,
} from '../../../src/kubernetes/rules/pods.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

const ended = (id: string, exitCode: number, more: Partial<Terminated> = {}): Terminated => ({
  ...{ id, exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message: '', startedAt: NOW, finishedAt: NOW + 9 },
  ...more,
});

const pod = (more: Partial<PodFacts> = {}): PodFacts => ({
  ...{ uid: 'u1', name: 'api-1', node: 'n1', madeAt: NOW, deletedAt: null, reason: '', message: '', unscheduled: '' },
  ...{ image: 'i', container: 'api', restarts: 0, isReady: true, running: null, waiting: null },
  ...{ ended: null, lastEnded: null },
  ...more,
});

const up = (id: string, restarts: number, more: Partial<PodFacts> = {}) =>
  pod({ running: { id, since: NOW }, restarts, ...more });

const life = (id: string, restarts: number, more: Partial<Life> = {}): Life => ({
  ...{ uid: 'u1', pod: 'api-1', container: 'api', id, restarts, podMadeAt: NOW },
  ...more,
});

const CRASH_LOOP = { reason: 'CrashLoopBackOff', message: 'back-off 40s' };

describe('how a life stands', () => {
  const ENDS: readonly (readonly [string, Life, readonly PodFacts[], unknown])[] = [
    ['it runs', life('a', 0), [up('a', 0)], { kind: 'running', isReady: true }],
    [
      'it ended, and was not started again yet',
      life('a', 0),
      [pod({ ended: ended('a', 1) })],
      { how: { cause: { code: 1 }, log: 'current' } },
    ],
    [
      'it ended, and the next one runs',
      life('a', 0),
      [up('b', 1, { lastEnded: ended('a', 1) })],
      { how: { cause: { code: 1 }, log: 'previous' } },
    ],
    [
      'it ended, and Kubernetes waits',
      life('b', 1),
      [pod({ restarts: 1, waiting: CRASH_LOOP, lastEnded: ended('b', 139) })],
      { how: { cause: { kind: 'signal', signal: 'SIGSEGV' }, log: 'previous' } },
    ],
    [
      'it was killed for want of memory',
      life('a', 0),
      [pod({ ended: ended('a', 137, { reason: 'OOMKilled' }) })],
      { how: { cause: { signal: 'SIGKILL', oom: true } } },
    ],
    [
      'a child of it was killed for want of memory',
      life('a', 0),
      [pod({ ended: ended('a', 1, { reason: 'OOMKilled' }) })],
      { how: { cause: { code: 1, oom: true } } },
    ],
    [
      'it could not be started',
      life('a', 0),
      [pod({ ended: ended('a', 127, { reason: 'ContainerCannotRun', message: 'no such file' }) })],
      { how: { cause: { kind: 'spawn-failed', problem: { code: 'command-not-found' } } } },
    ],
    [
      'two ends were missed',
      life('a', 0),
      [up('c', 2, { lastEnded: ended('b', 7) })],
      { how: { cause: { kind: 'unknown', why: /restarted it 2 times .* how it ended before is lost/ } } },
    ],
    [
      'five ends were missed',
      life('a', 0),
      [up('f', 5, { lastEnded: ended('e', 7) })],
      { how: { cause: { why: /restarted it 5 times .* the other 4 times is lost/ } } },
    ],
    ['its pod is gone', life('a', 0), [], { how: { cause: { kind: 'engine', why: /pod api-1 was deleted/ } } }],
    [
      'its pod was evicted',
      life('a', 0),
      [pod({ reason: 'Evicted', message: 'low on memory', ended: ended('a', 137) })],
      { how: { cause: { kind: 'engine', why: /n1: Evicted: low on memory/ } } },
    ],
    [
      'it was ended because its pod was deleted',
      life('a', 0),
      [pod({ deletedAt: NOW, ended: ended('a', 143) })],
      { how: { cause: { kind: 'engine' } } },
    ],
    [
      'it had crashed before its pod was deleted',
      life('a', 0),
      [pod({ deletedAt: NOW + 60_000, ended: ended('a', 3) })],
      { how: { cause: { kind: 'code', code: 3 } } },
    ],
    [
      'its node is lost, and it runs elsewhere',
      life('a', 0),
      [up('a', 0, { deletedAt: NOW }), up('z', 0, { uid: 'u2', madeAt: NOW + 1_000 })],
      { how: { cause: { kind: 'engine', why: /node n1 does not answer/ } } },
    ],
    ['its pod is on its way out', life('a', 0), [up('a', 0, { deletedAt: NOW })], { kind: 'running' }],
    ['its container is being made', life('', 0), [pod()], { kind: 'pending' }],
  ];
  test.each(ENDS)('%s', (_what, one, pods, expected) => {
    const seen = observe(one, pods);
    const { how, ...rest } = expected as { how?: { cause: Record<string, unknown>; log?: string } };
    expect(seen).toMatchObject(rest);
    if (!how) return;
    if (seen.kind !== 'ended') throw new Error(`it is ${seen.kind}`);
    if (how.log) expect(seen.how.log).toBe(how.log);
    const { why, ...cause } = how.cause;
    expect(seen.how.cause).toMatchObject(cause);
    if (why) expect((seen.how.cause as { why: string }).why).toMatch(why as RegExp);
  });
});

describe('the life that a run follows', () => {
  const NEXT: readonly (readonly [string, readonly PodFacts[], Life | null, boolean, string | null])[] = [
    [
      'the first one is that which runs, whatever was before',
      [up('c', 2, { lastEnded: ended('b', 1) })],
      null,
      false,
      'c',
    ],
    ['nothing runs yet', [pod()], null, false, null],
    [
      'a Job that is over is not followed by somebody who asks for a new one',
      [pod({ ended: ended('a', 0) })],
      null,
      false,
      null,
    ],
    [
      'a Job that was over before anybody looked is followed by whoever made it',
      [pod({ uid: 'u2', ended: ended('a', 0) })],
      null,
      false,
      'a',
    ],
    ['the next in the same pod', [up('b', 1, { lastEnded: ended('a', 1) })], life('a', 0), true, 'b'],
    ['one that ended in between comes first', [up('c', 2, { lastEnded: ended('b', 1) })], life('a', 0), true, 'b'],
    [
      'while Kubernetes waits there is none',
      [pod({ waiting: CRASH_LOOP, lastEnded: ended('a', 1) })],
      life('a', 0),
      true,
      null,
    ],
    [
      'the next pod of a Job, the oldest first',
      [
        pod({ ended: ended('a', 1) }),
        pod({ uid: 'u3', madeAt: NOW + 2, ended: ended('c', 1) }),
        pod({ uid: 'u2', madeAt: NOW + 1, ended: ended('b', 1) }),
      ],
      life('a', 0),
      true,
      'b',
    ],
    [
      'a pod that is on its way out is not followed',
      [up('z', 0, { uid: 'u2', deletedAt: NOW })],
      life('a', 0),
      true,
      null,
    ],
    ['nobody follows a life again', [pod({ ended: ended('a', 1) })], life('a', 0), true, null],
  ];
  test.each(NEXT)('%s', (_what, pods, after, catchUp, id) => {
    const earlier = new Set(['u1']);
    expect(nextLife(pods, { after, catchUp, earlier, since: null })?.id ?? null).toBe(id);
  });

  const TAKEN_OVER: readonly (readonly [string, readonly PodFacts[], string | null])[] = [
    ['what runs', [up('a', 0)], 'a'],
    ['an end that the one before has seen is not told again', [up('b', 1, { lastEnded: ended('a', 1) })], 'b'],
    [
      'an end after the last word of the one before comes first',
      [up('b', 1, { lastEnded: ended('a', 1, { finishedAt: NOW + 60 }) })],
      'a',
    ],
    [
      'while Kubernetes waits after an end that was seen',
      [pod({ waiting: CRASH_LOOP, lastEnded: ended('a', 1) })],
      null,
    ],
    ['a Job that was over is known to be', [pod({ ended: ended('a', 0) })], 'a'],
    ['there is none', [], null],
  ];
  test.each(TAKEN_OVER)('after another Keepwell: %s', (_what, pods, id) => {
    const options = { after: null, catchUp: false, earlier: new Set<string>(), since: NOW + 50 };
    expect(nextLife(pods, options)?.id ?? null).toBe(id);
  });
});

test('of a pod only what is needed is kept, and its deletion is dated when it was asked for', () => {
  const raw: RawPod = {
    metadata: {
      ...{ name: 'api-1', uid: 'u1', creationTimestamp: '2026-01-01T00:00:00Z' },
      ...{ deletionTimestamp: '2026-01-01T00:01:00Z', deletionGracePeriodSeconds: 30 },
    },
    spec: { nodeName: 'n1', containers: [{ name: 'sidecar' }, { name: 'api', image: 'shop:1' }] },
    status: {
      containerStatuses: [
        { name: 'sidecar', restartCount: 9 },
        { name: 'api', restartCount: 2, ready: true, containerID: 'x://1', state: { running: {} } },
      ],
    },
  };
  expect(podFacts(raw, 'api')).toMatchObject({
    ...{ node: 'n1', image: 'shop:1', restarts: 2, isReady: true, deletedAt: NOW + 30_000 },
    running: { id: 'x://1' },
  });
});

test('on a node that is lost a container is not ready, whatever it said last', () => {
  const said = { name: 'api', ready: true, state: { running: {} } };
  const raw = (is: string): RawPod => ({
    metadata: { name: 'api-1', uid: 'u1' },
    status: { conditions: [{ type: 'Ready', status: is }], containerStatuses: [said] },
  });
  expect([podFacts(raw('True'), 'api').isReady, podFacts(raw('False'), 'api').isReady]).toEqual([true, false]);
});

test('why nothing runs yet is said in the words of Kubernetes', () => {
  expect(whyNotYet([])).toBeNull();
  expect(whyNotYet([pod({ waiting: { reason: 'ContainerCreating', message: '' } })])).toBeNull();
  expect(whyNotYet([pod({ unscheduled: '0/2 nodes are available' })])).toBe(
    'no node takes it: 0/2 nodes are available',
  );
  expect(whyNotYet([pod({ waiting: { reason: 'ErrImagePull', message: 'not found' } })])).toBe(
    'Kubernetes cannot start it: ErrImagePull: not found',
  );
  expect(whyNotYet([pod({ waiting: CRASH_LOOP })])).toContain('waits before it starts it again');
});

test('events explain an end only when they are near it', () => {
  const event = (reason: string, message: string, at: number) => ({
    ...{ metadata: { name: 'e', uid: 'e' }, reason, message, lastTimestamp: new Date(at).toISOString() },
  });
  const killed = event('Killing', 'Container api failed liveness probe, will be restarted', NOW);
  const unhealthy = event('Unhealthy', 'Liveness probe failed: HTTP 503', NOW - 1_000);
  const ready = event('Unhealthy', 'Readiness probe failed: no', NOW - 500);
  expect(joinEvents([ready, killed, unhealthy], NOW).unhealthy).toBe('Liveness probe failed: HTTP 503');
  expect(joinEvents([killed], NOW).unhealthy).toBe('its liveness probe failed');
  expect(joinEvents([ready], NOW).unhealthy).toBeNull();
  expect(joinEvents([killed, unhealthy], NOW + 600_000)).toEqual({ unhealthy: null, notes: [] });
  expect(joinEvents([event('Scheduled', 'to n1', NOW)], NOW).notes).toEqual([]);
});

test('a log that is read again from the same second gives every line once', () => {
  const log = [
    '2026-01-01T00:00:00.1Z a',
    '2026-01-01T00:00:00.1Z b',
    '2026-01-01T00:00:00.123456789Z c',
    'kubelet says',
  ];
  const first = new NewLines(null);
  first.begin();
  expect(log.slice(0, 2).flatMap((line) => first.take(line) ?? [])).toEqual(['a', 'b']);
  const second = new NewLines(first.written);
  second.begin();
  expect(log.flatMap((line) => second.take(line) ?? [])).toEqual(['c', 'kubelet says']);
  expect(second.written).toEqual({ stamp: '2026-01-01T00:00:00.123456789Z', lines: 1 });
});
