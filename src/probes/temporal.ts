/**
 * Passes when a worker polls a task queue of Temporal. The frontend is asked, not the worker: when that cannot be asked, nothing is
 * known about the worker, and it is not to blame.
 */
import { formatDuration } from '../base/pure/format.ts';
import type { Inquiry } from '../supervision/ports/prober.ts';
import type { Answer, ProbeQuestion } from '../supervision/rules/health/probe.ts';
import { Answered, fail, inconclusive, pass } from './answers.ts';
import { within } from './deadline.ts';
import { inquiry } from './inquiry.ts';
import type { Names } from './names/names.ts';
import { askServer, hostAndPort, OK, type Reply, statusName } from './rpc/call.ts';
import { bytesField, type Fields, messagesOf, numberField, numberOf, readFields, textField } from './rpc/wire.ts';

type TemporalQuestion = Extract<ProbeQuestion, { kind: 'temporal' }>;

const PATH = '/temporal.api.workflowservice.v1.WorkflowService/DescribeTaskQueue';
const QUEUE_TYPES = { workflow: 1, activity: 2 } as const;
/** A queue may have thousands of pollers, each with a few hundred bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

export const temporalInquiry = (question: TemporalQuestion, names: Names): Inquiry =>
  inquiry(async (timeoutMs, signal) => {
    try {
      return await within(timeoutMs, signal, async (deadline) => {
        const asked = { path: PATH, message: describeTaskQueue(question), maxBytes: MAX_ANSWER_BYTES };
        return judge(await askServer(question, asked, names, deadline), question);
      });
    } catch (error) {
      throw error instanceof Answered ? new Answered(notAsked(question, error.message)) : error;
    }
  });

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
