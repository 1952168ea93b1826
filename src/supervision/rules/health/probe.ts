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
  | { readonly kind: 'unix'; readonly path: string }
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

export type QuestionKind = Exclude<ProbeQuestion['kind'], 'all_of'>;
export type QuestionOf<K extends QuestionKind> = Extract<ProbeQuestion, { readonly kind: K }>;

/** What has to be known of a kind of question by those who do not ask it. The rest of it is in `probes/kinds`. */
interface QuestionTraits<K extends QuestionKind> {
  /** In a few words: "http :8080/healthz". */
  describe(question: QuestionOf<K>): string;
  /** What it looks at of a run; null: it asks the component, which may notice: some write a line for each request. */
  readonly looksAt: 'process' | 'output' | null;
  /** Whether it fails while the component hangs. The kernel answers for a process that is stopped: it is there, and its connections are accepted. */
  readonly noticesHang: boolean;
  /** Whether its `host` and `port` are meant to be those that the component itself listens on. */
  readonly asksOwnPort: QuestionOf<K> extends { readonly host: string; readonly port: number } ? boolean : false;
}

export const QUESTION_KINDS = {
  exec: {
    describe: ({ command }) => `exec ${command.join(' ')}`,
    looksAt: null,
    noticesHang: true,
    asksOwnPort: false,
  },
  http: {
    describe: (question) => `${question.scheme} ${address(question)}${question.path}`,
    looksAt: null,
    noticesHang: true,
    asksOwnPort: true,
  },
  tcp: {
    describe: (question) => `tcp ${address(question)}`,
    looksAt: null,
    noticesHang: false,
    asksOwnPort: true,
  },
  unix: { describe: ({ path }) => `unix ${path}`, looksAt: null, noticesHang: false, asksOwnPort: false },
  grpc: {
    describe: (question) => `grpc ${address(question)}${question.service === '' ? '' : ` ${question.service}`}`,
    looksAt: null,
    noticesHang: true,
    asksOwnPort: true,
  },
  temporal: {
    describe: (question) => `temporal ${address(question)} ${question.queueKind} queue ${question.taskQueue}`,
    looksAt: null,
    noticesHang: true,
    asksOwnPort: false, // a Temporal server is asked about others' pollers
  },
  pid: { describe: () => 'pid', looksAt: 'process', noticesHang: false, asksOwnPort: false },
  log: { describe: ({ pattern }) => `log ${pattern}`, looksAt: 'output', noticesHang: false, asksOwnPort: false },
} as const satisfies { readonly [K in QuestionKind]: QuestionTraits<K> };

export type OwnPortKind = {
  [K in QuestionKind]: (typeof QUESTION_KINDS)[K]['asksOwnPort'] extends true ? K : never;
}[QuestionKind];

const traitsOf = ({ kind }: { readonly kind: QuestionKind }): Omit<QuestionTraits<QuestionKind>, 'asksOwnPort'> =>
  QUESTION_KINDS[kind];

/** What a question of this name looks at of a run; null: at nothing, or there is no such question. */
export const looksAt = (name: string): 'process' | 'output' | null =>
  Object.hasOwn(QUESTION_KINDS, name) ? QUESTION_KINDS[name as QuestionKind].looksAt : null;

/** The question in a few words: "http :8080/healthz", "tcp :7233", "exec ./check.sh", "log /ready/". */
export const describeQuestion = (question: ProbeQuestion): string =>
  question.kind === 'all_of' ? question.all.map(describeQuestion).join(' and ') : traitsOf(question).describe(question);

/** Whether the component may notice that it is asked. */
export const isNoticed = (question: ProbeQuestion): boolean =>
  question.kind === 'all_of' ? question.all.some(isNoticed) : traitsOf(question).looksAt === null;

/** Whether it fails while the component hangs. */
export const noticesHang = (question: ProbeQuestion): boolean =>
  question.kind === 'all_of' ? question.all.some(noticesHang) : traitsOf(question).noticesHang;

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

function address({ host, port }: { readonly host: string; readonly port: number }): string {
  if (LOOPBACK.has(host)) return `:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
