/** Questions about a component that are asked again and again, and what an answer looks like. */

export const ROLES = ['startup', 'liveness', 'readiness'] as const;
export type Role = (typeof ROLES)[number];

// That something could not be asked is never the component's fault.
/** Inconclusive: it could not be asked. */
export type Outcome = 'pass' | 'fail' | 'inconclusive';

export interface Answer {
  readonly outcome: Outcome;
  /** For people: "HTTP 503", "connection refused", "no answer within 1 s". */
  readonly message: string;
}

/** A server that speaks gRPC. */
export interface RpcServer {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Only with TLS: accept a certificate that cannot be verified. */
  readonly insecure: boolean;
  /** Only with TLS: whose certificate is expected; null: that of the host. */
  readonly serverName: string | null;
}

/** What is asked. Addresses are complete; nothing is defaulted any more. */
export type ProbeQuestion =
  | { readonly kind: 'exec'; readonly command: readonly string[]; readonly cwd: string }
  | {
      readonly kind: 'http';
      readonly scheme: 'http' | 'https';
      readonly host: string;
      readonly port: number;
      /** With the query, beginning with a slash. */
      readonly path: string;
      readonly method: 'GET' | 'HEAD';
      readonly headers: Readonly<Record<string, string>>;
      /** Null: any status from 200 to 399. */
      readonly status: readonly number[] | null;
      /** Text that must stand in the first 10 KiB of the answer; null: the body is not looked at. */
      readonly contains: string | null;
      /** Only with https: accept a certificate that cannot be verified. */
      readonly insecure: boolean;
    }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | (RpcServer & {
      readonly kind: 'grpc';
      /** Empty: the server as a whole. */
      readonly service: string;
    })
  | (RpcServer & {
      readonly kind: 'temporal';
      readonly namespace: string;
      readonly taskQueue: string;
      readonly queueKind: 'workflow' | 'activity';
      /** Who polled longer ago does not count any more. */
      readonly maxAgeMs: number;
    })
  | { readonly kind: 'pid' }
  /** Passes for good once a line of this run's output fits the pattern. */
  | { readonly kind: 'log'; readonly pattern: string }
  | { readonly kind: 'all_of'; readonly all: readonly ProbeQuestion[] };

export interface ProbeSpec {
  readonly question: ProbeQuestion;
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** From the start of the run to the first question. */
  readonly initialDelayMs: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
}

export type ProbesSpec = Readonly<Record<Role, ProbeSpec | null>>;

export const NO_PROBES: ProbesSpec = { startup: null, liveness: null, readiness: null };

/** The question in a few words: "http :8080/healthz", "tcp :7233", "exec ./check.sh", "log /ready/". */
export function describeQuestion(question: ProbeQuestion): string {
  switch (question.kind) {
    case 'exec':
      return `exec ${question.command.join(' ')}`;
    case 'http':
      return `${question.scheme} ${address(question)}${question.path}`;
    case 'tcp':
      return `tcp ${address(question)}`;
    case 'grpc':
      return `grpc ${address(question)}${question.service === '' ? '' : ` ${question.service}`}`;
    case 'temporal':
      return `temporal ${address(question)} ${question.queueKind} queue ${question.taskQueue}`;
    case 'pid':
      return 'pid';
    case 'log':
      return `log ${question.pattern}`;
    case 'all_of':
      return question.all.map(describeQuestion).join(' and ');
    default:
      throw new Error(`no such question: ${JSON.stringify(question satisfies never)}`);
  }
}

/** Whether the component may notice that it is asked: some write a line for each request. */
export const isNoticed = (question: ProbeQuestion): boolean =>
  question.kind === 'all_of' ? question.all.some(isNoticed) : question.kind !== 'pid' && question.kind !== 'log';

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

function address({ host, port }: { readonly host: string; readonly port: number }): string {
  if (LOOPBACK.has(host)) return `:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
