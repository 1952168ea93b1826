/** Passes when a server says of itself, or of one of its services, that it is serving: the health protocol of gRPC. */

import type { Inquiry } from '../supervision/ports/prober.ts';
import type { Answer, ProbeQuestion } from '../supervision/rules/health/probe.ts';
import { fail, inconclusive, pass } from './answers.ts';
import { within } from './deadline.ts';
import { inquiry } from './inquiry.ts';
import type { Names } from './names/names.ts';
import {
  askServer,
  NOT_FOUND,
  OK,
  PERMISSION_DENIED,
  type Reply,
  statusName,
  UNAUTHENTICATED,
  UNIMPLEMENTED,
} from './rpc/call.ts';
import { Malformed, numberOf, readFields, textField } from './rpc/wire.ts';

type GrpcQuestion = Extract<ProbeQuestion, { kind: 'grpc' }>;

/** Of grpc/health/v1/health.proto: `HealthCheckRequest.service` and `HealthCheckResponse.status`. */
const PATH = '/grpc.health.v1.Health/Check';
const SERVICE = 1;
const STATUS = 1;
const SERVING = 1;
const STATES: readonly string[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
/** The answer is one small number. */
const MAX_ANSWER_BYTES = 10 * 1024;

const NO_HEALTH_SERVICE =
  'this server does not implement grpc.health.v1: register the health service in it, or ask its port with tcp';

export const grpcInquiry = (question: GrpcQuestion, names: Names): Inquiry =>
  inquiry((timeoutMs, signal) =>
    within(timeoutMs, signal, async (deadline) => {
      const message = textField(SERVICE, question.service);
      const asked = { path: PATH, message, maxBytes: MAX_ANSWER_BYTES };
      return judge(await askServer(question, asked, names, deadline), question);
    }),
  );

function judge({ status, detail, message }: Reply, { service }: GrpcQuestion): Answer {
  const said = `${statusName(status)}${detail === '' ? '' : `: ${detail}`}`;
  switch (status) {
    case OK:
      return message === null ? fail('there is no message in the answer') : judgeState(message);
    case NOT_FOUND:
      return fail(`the server does not know the service ${JSON.stringify(service)} (${statusName(status)})`);
    case UNIMPLEMENTED: // The question is wrong, not the server: no restart would help.
      return inconclusive(`${NO_HEALTH_SERVICE} (${said})`);
    case PERMISSION_DENIED:
    case UNAUTHENTICATED:
      return inconclusive(`the server does not let us ask (${said})`);
    default:
      return fail(said);
  }
}

function judgeState(message: Uint8Array): Answer {
  try {
    const state = numberOf(readFields(message), STATUS, 32);
    return state === SERVING ? pass('SERVING') : fail(STATES[state] ?? `health status ${state}`);
  } catch (error) {
    if (error instanceof Malformed) return fail(`the answer cannot be read: ${error.message}`);
    throw error;
  }
}
