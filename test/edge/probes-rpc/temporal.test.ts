import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { describeTaskQueue, lastPolls } from '../../../src/probes/kinds/temporal.ts';
import { freePort } from '../../support/free-port.ts';
import { type Identity, selfSigned } from '../probes/certificate.ts';
import { ask, SHORT_MS, serve } from '../probes/probe-world.ts';
import {
  DescribeTaskQueueRequest,
  DescribeTaskQueueResponse,
  frontend,
  type Poller,
  poller,
  type Request,
  refusal,
  status,
  TaskQueueType,
} from './frontend.ts';
import { healthServer, temporal } from './rpc-world.ts';

const MINUTE_MS = 60_000;

let identity: Identity | null = null;
beforeAll(() => {
  identity = selfSigned();
});

describe('a temporal probe and a frontend of the official definitions', () => {
  test.each<[string, () => Poller[], string]>([
    ['a worker that polled just now', () => [poller(1_000)], '1 worker polls the queue'],
    ['a worker without work', () => [poller(MINUTE_MS)], '1 worker polls the queue'],
    [
      'some alive among the dead',
      () => [poller(4 * MINUTE_MS), poller(5_000, 'b'), poller(0, 'c')],
      '2 workers poll the queue',
    ],
    ['a clock that goes ahead', () => [poller(-2 * MINUTE_MS)], '1 worker polls the queue'],
  ])('passes with %s', async (_, pollers, message) => {
    const port = await frontend(() => ({ pollers: pollers() }));
    expect(await ask(temporal(port))).toEqual({ outcome: 'pass', message });
  });

  test.each<[string, () => Poller[], RegExp]>([
    ['none at all', () => [], /\(none is known\)$/],
    ['one of whom nothing is known', () => [{ identity: 'x' }], /\(none is known\)$/],
    [
      'the dead, who are named for minutes',
      () => [poller(4 * MINUTE_MS, 'a'), poller(3 * MINUTE_MS, 'b')],
      /\(the last one 3 min(?: \d+ s)? ago\)$/,
    ],
  ])('fails with %s', async (_, pollers, message) => {
    const port = await frontend(() => ({ pollers: pollers() }));
    const answer = await ask(temporal(port));
    expect(answer.outcome).toBe('fail');
    expect(answer.message).toMatch(/^no worker polls the workflow queue workflows /);
    expect(answer.message).toMatch(message);
  });

  test('what is asked arrives as it was meant, each kind of task for itself', async () => {
    const seen: Request[] = [];
    const port = await frontend((request) => {
      seen.push(request);
      return { pollers: request.taskQueueType === TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY ? [poller(0)] : [] };
    });
    const queue = { namespace: 'prod', taskQueue: 'übergrößen' };
    expect((await ask(temporal(port, { ...queue, queueKind: 'activity' }))).outcome).toBe('pass');
    expect((await ask(temporal(port, { ...queue, queueKind: 'workflow' }))).outcome).toBe('fail');
    expect(seen.map(({ namespace, taskQueue, taskQueueType }) => [namespace, taskQueue?.name, taskQueueType])).toEqual([
      ['prod', 'übergrößen', TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY],
      ['prod', 'übergrößen', TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW],
    ]);
  });

  test('thousands of pollers', async () => {
    const pollers = Array.from({ length: 5_000 }, (_, index) =>
      poller(index * 1_000, `${index}@a-host-with-a-long-name.example`),
    );
    const port = await frontend(() => ({ pollers }));
    expect(await ask(temporal(port, { maxAgeMs: 60 * MINUTE_MS }))).toMatchObject({ outcome: 'pass' });
  });

  test('with TLS', async ({ skip }) => {
    const port = await frontend(() => ({ pollers: [poller(0)] }), identity ?? skip('openssl is not installed here'));
    expect((await ask(temporal(port, { tls: true, insecure: true }))).outcome).toBe('pass');
    expect(await ask(temporal(port, { tls: true }))).toEqual({
      outcome: 'inconclusive',
      message: `Temporal at 127.0.0.1:${port} could not be asked: bad certificate: it is self-signed`,
    });
  });
});

describe('a worker is not to blame for a frontend that cannot be asked', () => {
  const because = (port: number, why: string) => ({
    outcome: 'inconclusive',
    message: `Temporal at 127.0.0.1:${port} could not be asked: ${why}`,
  });

  test.each([
    [status.NOT_FOUND, 'Namespace prod is not found.', 'NOT_FOUND: Namespace prod is not found.'],
    [status.PERMISSION_DENIED, 'Request unauthorized.', 'PERMISSION_DENIED: Request unauthorized.'],
    [status.UNAVAILABLE, 'no hosts', 'UNAVAILABLE: no hosts'],
    [status.INVALID_ARGUMENT, 'too long', 'INVALID_ARGUMENT: too long'],
  ])('it ends the call with status %i', async (code, details, why) => {
    const port = await frontend(() => {
      throw refusal(code, details);
    });
    expect(await ask(temporal(port))).toEqual(because(port, why));
  });

  test('it is down, silent, or no frontend at all', async () => {
    const down = await freePort();
    expect(await ask(temporal(down))).toEqual(because(down, 'connection refused'));
    const { port: silent } = await serve(() => {});
    expect(await ask(temporal(silent), SHORT_MS)).toEqual(because(silent, 'no answer within 300 ms'));
    const { port: other } = await healthServer({ '': 'SERVING' });
    expect(await ask(temporal(other))).toMatchObject({
      outcome: 'inconclusive',
      message: expect.stringContaining('UNIMPLEMENTED'),
    });
  });
});

describe('our bytes and the official ones', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });

  test('a request is encoded to the very same bytes', () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.constantFrom('workflow' as const, 'activity' as const),
        (namespace, name, queueKind) => {
          const ours = describeTaskQueue(temporal(1, { namespace, taskQueue: name, queueKind }));
          const taskQueueType = queueKind === 'workflow' ? 1 : 2;
          const official = DescribeTaskQueueRequest.encode({
            ...(namespace === '' ? {} : { namespace }),
            taskQueue: name === '' ? {} : { name },
            taskQueueType,
          }).finish();
          expect(Buffer.from(ours)).toEqual(Buffer.from(official));
        },
      ),
    );
  });

  const timestamp = fc.record({
    seconds: fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
    nanos: fc.integer({ min: 0, max: 999_999_999 }),
  });
  const info = fc.record(
    {
      lastAccessTime: timestamp,
      identity: text,
      ratePerSecond: fc.double(),
      workerVersionCapabilities: fc.record({ buildId: text, useVersioning: fc.boolean() }),
      deploymentOptions: fc.record({ deploymentName: text, buildId: text }),
    },
    { requiredKeys: [] },
  );
  const response = fc.record({
    pollers: fc.array(info, { maxLength: 20 }),
    stats: fc.record({ approximateBacklogCount: fc.integer(), tasksAddRate: fc.float() }),
    taskQueueStatus: fc.record({ backlogCountHint: fc.integer(), ratePerSecond: fc.double() }),
    versionsInfo: fc.dictionary(text, fc.constant({})),
  });

  test('an answer with anything in it is read as the official decoder reads it', () => {
    fc.assert(
      fc.property(response, (given) => {
        const bytes = DescribeTaskQueueResponse.encode(given as never).finish();
        const official = DescribeTaskQueueResponse.decode(bytes).pollers.flatMap(({ lastAccessTime: at }) =>
          at ? [Number(at.seconds) * 1_000 + (at.nanos ?? 0) / 1e6] : [],
        );
        expect(lastPolls(bytes)).toEqual(official);
      }),
    );
  });

  test('a flood of tiny fields is refused', () => {
    expect(() => lastPolls(Buffer.alloc(2 * 20_001, Buffer.from([8, 0])))).toThrow('too many fields');
  });

  test('bytes of any kind are read or refused, and nothing else happens', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          for (const at of lastPolls(bytes)) expect(at).not.toBeNaN();
        } catch (error) {
          expect((error as Error).constructor.name).toBe('Malformed');
        }
      }),
    );
  });
});
