/** The frontend of Temporal, as far as it tells who polls a task queue, made from the official definitions. */
import { type ServerUnaryCall, type ServiceError, type sendUnaryData, status } from '@grpc/grpc-js';
import proto from '@temporalio/proto';
import type { Identity } from '../probes/certificate.ts';
import { listening, serverOf } from './rpc-world.ts';

const { DescribeTaskQueueRequest, DescribeTaskQueueResponse } = proto.temporal.api.workflowservice.v1;
const { TaskQueueType } = proto.temporal.api.enums.v1;

export type Request = ReturnType<typeof DescribeTaskQueueRequest.decode>;
export type Response = proto.temporal.api.workflowservice.v1.IDescribeTaskQueueResponse;
export type Poller = proto.temporal.api.taskqueue.v1.IPollerInfo;

export { DescribeTaskQueueRequest, DescribeTaskQueueResponse, status, TaskQueueType };

const SERVICE = {
  DescribeTaskQueue: {
    path: '/temporal.api.workflowservice.v1.WorkflowService/DescribeTaskQueue',
    requestStream: false,
    responseStream: false,
    requestSerialize: (message: Request) => Buffer.from(DescribeTaskQueueRequest.encode(message).finish()),
    requestDeserialize: (bytes: Buffer) => DescribeTaskQueueRequest.decode(bytes),
    responseSerialize: (message: Response) => Buffer.from(DescribeTaskQueueResponse.encode(message).finish()),
    responseDeserialize: (bytes: Buffer) => DescribeTaskQueueResponse.decode(bytes),
  },
} as const;

/** Throw `refusal` to end the call with a status. */
export const refusal = (code: status, details: string): Partial<ServiceError> => ({ code, details });

export function frontend(answer: (request: Request) => Response, identity: Identity | null = null): Promise<number> {
  const DescribeTaskQueue = (call: ServerUnaryCall<Request, Response>, done: sendUnaryData<Response>): void => {
    try {
      done(null, answer(call.request));
    } catch (error) {
      done(error as ServiceError);
    }
  };
  return listening(serverOf(SERVICE, { DescribeTaskQueue }), identity);
}

/** A worker that polled so long ago. */
export function poller(agoMs: number, identity = '4711@host'): Poller {
  const at = Date.now() - agoMs;
  const seconds = Math.floor(at / 1_000);
  return { identity, lastAccessTime: { seconds: seconds as never, nanos: (at - seconds * 1_000) * 1_000_000 } };
}
