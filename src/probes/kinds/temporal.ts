/**
 * Passes when a worker polls a task queue of Temporal. The frontend is asked, not the worker: when that cannot be asked, nothing is
 * known about the worker, and it is not to blame.
 */

import { z } from 'zod';
import { formatDuration } from '../../base/pure/format.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { DURATION_PATTERN, durationText } from '../../config/duration.ts';
import { leaf, oneOf, optional, orVariable } from '../../config/leaves.ts';
import { readAddress } from '../../config/readers/network.ts';
import { type Reader, readDuration, readText, refuse } from '../../config/readers.ts';
import { flowText, isGiven, row, scalarText } from '../../config/words/argv.ts';
import type { Answer, QuestionOf } from '../../supervision/rules/health/probe.ts';
import { FinalAnswer, fail, inconclusive, inquiry, pass, within } from '../inquiry.ts';
import type { ProbeKind } from '../kind.ts';
import { askServer, hostAndPort, OK, type Reply, statusName } from '../rpc/call.ts';
import { checkTls, tlsKeys, tlsOf, tlsWords } from '../rpc/tls-keys.ts';
import { bytesField, type Fields, messagesOf, numberField, numberOf, readFields, textField } from '../rpc/wire.ts';

type TemporalQuestion = QuestionOf<'temporal'>;

const DEFAULT = {
  address: { host: DEFAULTS.probe.host, port: 7233 },
  namespace: 'default',
  /** An idle worker polls once in 60 s. */
  maxAgeMs: 90_000,
};

/** The most that Temporal takes for a name. */
const MAX_LABEL_CHARS = 1_000;

/** The name of a namespace or a task queue. */
const readLabel: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value.trim() === '') return refuse('is empty', 'Give it a value, or remove the line.');
  const isTooLong = read.value.length > MAX_LABEL_CHARS;
  return isTooLong ? refuse(`is longer than the ${MAX_LABEL_CHARS} characters that Temporal takes`) : read;
};

/** A worker without work asks Temporal once in this time. */
const LONG_POLL_MS = 60_000;

const readPositive = readDuration({ zero: false });

const readMaxAge: Reader<number> = (node) => {
  const read = readPositive(node);
  if (!('value' in read) || read.value >= LONG_POLL_MS) return read;
  const least = durationText(LONG_POLL_MS);
  return refuse(`must be at least ${least}: a worker without work polls once a minute`, `Write ${least} or more.`);
};

const label = leaf(readLabel, 'text', { type: 'string', pattern: '\\S' });

const map = z
  .strictObject({
    address: optional(leaf(readAddress, '`host:port`', { type: 'string', pattern: '^[^/]+:[0-9]+$|\\$\\{' }), {
      description: 'The frontend of Temporal.',
      defaultsTo: `${DEFAULT.address.host}:${DEFAULT.address.port}`,
      example: 'localhost:7233',
    }),
    namespace: optional(label, {
      description: 'The namespace the queue is in.',
      defaultsTo: DEFAULT.namespace,
      example: 'production',
    }),
    task_queue: label.meta({ description: 'The task queue that a worker should poll.', example: 'workflows' }),
    kind: oneOf(['workflow', 'activity'], { workflows: 'workflow', activities: 'activity' }).meta({
      description: 'Which kind of tasks: a worker polls for workflows and for activities separately.',
      example: 'workflow',
    }),
    max_age: optional(leaf(readMaxAge, 'duration', orVariable({ pattern: DURATION_PATTERN.source })), {
      description:
        'A worker that polled longer ago does not count: Temporal lists workers for minutes after their death.',
      defaultsTo: durationText(DEFAULT.maxAgeMs),
      example: '2m',
    }),
    ...tlsKeys,
  })
  .meta({ id: 'probe-temporal' });

const schema = optional(map, {
  description: 'Ask Temporal whether a worker polls a task queue.',
  defaultNote: 'none',
  example: { task_queue: 'workflows', kind: 'workflow' },
});

const ADDRESS = row('readiness.temporal.address', '"localhost:7233"', '', scalarText);
const QUEUE = row('readiness.temporal.task_queue', '*', 'workflows');
const KIND = row('readiness.temporal.kind', 'workflow');
const MAX_AGE = row('readiness.temporal.max_age', '90s');

export const temporal = {
  schema,
  missing: {
    task_queue: refuse('the task queue is missing', 'Write: task_queue: workflows'),
    kind: refuse(
      'it is not said which tasks',
      'Write "kind: workflow" or "kind: activity"; for both, put two questions into all_of.',
    ),
  },
  check: checkTls,
  resolve: ({ address = DEFAULT.address, task_queue: taskQueue, kind: queueKind, ...rest }) => ({
    kind: 'temporal',
    ...address,
    namespace: rest.namespace ?? DEFAULT.namespace,
    ...{ taskQueue, queueKind },
    maxAgeMs: rest.max_age ?? DEFAULT.maxAgeMs,
    ...tlsOf(rest),
  }),
  inside: {
    ...tlsWords('temporal'),
    ...{ host: ADDRESS, port: ADDRESS, hostport: ADDRESS, addr: ADDRESS, target: ADDRESS, frontend: ADDRESS },
    ...{ taskqueue: QUEUE, queue: QUEUE, taskqueuename: QUEUE, name: QUEUE },
    ...{ type: KIND, taskqueuetype: KIND, queuetype: KIND, queuekind: KIND },
    ...{ maxage: MAX_AGE, fresh: MAX_AGE, freshness: MAX_AGE, stale: MAX_AGE },
  },
  forms: {
    '': (node) => {
      if (!isGiven(node)) return null;
      const { source } = node;
      const address = /^[\w.-]{1,200}:\d{1,5}$/.test(source) ? `address: ${flowText(source)}, ` : '';
      const queue = address === '' && /^[\w.-]{1,80}$/.test(source) ? flowText(source) : 'workflows';
      return refuse(
        'must be a map, not a single value',
        `Write: temporal: { ${address}task_queue: ${queue}, kind: workflow }`,
      );
    },
  },
  open: (question, { parts: { names } }) =>
    inquiry(async (timeoutMs, signal) => {
      try {
        return await within(timeoutMs, signal, async (deadline) => {
          const asked = { path: PATH, message: describeTaskQueue(question), maxBytes: MAX_ANSWER_BYTES };
          return judge(await askServer(question, asked, names, deadline), question);
        });
      } catch (error) {
        throw error instanceof FinalAnswer ? new FinalAnswer(notAsked(question, error.message)) : error;
      }
    }),
} satisfies ProbeKind<'temporal', typeof schema>;

const PATH = '/temporal.api.workflowservice.v1.WorkflowService/DescribeTaskQueue';
const QUEUE_TYPES = { workflow: 1, activity: 2 } as const;
/** A queue may have thousands of pollers, each with a few hundred bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** `DescribeTaskQueueRequest`, by the numbers of its fields. */
export const describeTaskQueue = ({ namespace, taskQueue, queueKind }: TemporalQuestion): Uint8Array =>
  Buffer.concat([
    textField(1, namespace),
    bytesField(2, textField(1, taskQueue)),
    numberField(3, QUEUE_TYPES[queueKind]),
  ]);

const notAsked = (question: TemporalQuestion, why: string): Answer =>
  inconclusive(`Temporal at ${hostAndPort(question)} could not be asked: ${why}`);

function judge({ status, detail, message }: Reply, question: TemporalQuestion): Answer {
  // Such as a namespace that is not there, or no permission to look: it says nothing about the worker.
  if (status !== OK) return notAsked(question, detail === '' ? statusName(status) : `${statusName(status)}: ${detail}`);
  if (message === null) return notAsked(question, 'there is no message in the answer');
  const now = Date.now();
  let ages: readonly number[];
  try {
    ages = lastPolls(message).map((at) => now - at);
  } catch (error) {
    return notAsked(question, `the answer cannot be read: ${(error as Error).message}`);
  }
  const fresh = ages.filter((age) => age <= question.maxAgeMs).length;
  if (fresh > 0) return pass(fresh === 1 ? '1 worker polls the queue' : `${fresh} workers poll the queue`);
  const latest = ages.reduce((least, age) => Math.min(least, age), Number.POSITIVE_INFINITY);
  const last = ages.length === 0 ? 'none is known' : `the last one ${formatDuration(latest)} ago`;
  return fail(`no worker polls the ${question.queueKind} queue ${question.taskQueue} (${last})`);
}

/** When each of the pollers of a `DescribeTaskQueueResponse` was last there, in milliseconds since 1970. */
export const lastPolls = (response: Uint8Array): readonly number[] =>
  messagesOf(readFields(response), 1).flatMap((poller) => messagesOf(poller, 1).slice(-1).map(milliseconds));

/** Of a `google.protobuf.Timestamp`. */
const milliseconds = (timestamp: Fields): number =>
  numberOf(timestamp, 1, 64) * 1_000 + numberOf(timestamp, 2, 32) / 1e6;
