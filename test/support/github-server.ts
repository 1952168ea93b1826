/**
 * A server that answers like GitHub's REST API for issues, built from the shapes in GitHub's documentation (it is not GitHub), and
 * that can be told to fail at any step of a call.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** hang: never answers. cut: the connection breaks after the headers. late: does what it was asked, and never answers. */
export type Fault =
  | 'none'
  | 'hang'
  | 'cut'
  | '500'
  | 'no-json'
  | 'done-then-hang'
  | 'done-then-cut'
  | '401'
  | '403'
  | '404'
  | '301'
  | '422'
  | 'rate-limited'
  | 'secondary-limit';

interface Issue {
  readonly number: number;
  title: string;
  body: string;
  state: 'open' | 'closed';
  state_reason: string | null;
  labels: { readonly name: string }[];
  readonly created_at: string;
  readonly html_url: string;
  readonly comments: { readonly body: string; readonly created_at: string }[];
}

export class GithubServer implements AsyncDisposable {
  readonly issues: Issue[] = [];
  readonly calls: string[] = [];
  readonly tokens = new Set<string>();
  /** For the next calls, in this order; then it works. `when` is a method, or any. */
  faults: { readonly fault: Fault; readonly when?: string }[] = [];
  /** The clock of the server is off by this. */
  clockOffMs = 0;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async open(): Promise<GithubServer> {
    const server = new GithubServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // the client has gone
    }
    const { method = '', url = '' } = request;
    this.calls.push(`${method} ${url.split('?')[0]}`);
    this.tokens.add(request.headers.authorization ?? '');
    const at = this.faults.findIndex(({ when }) => when === undefined || when === method);
    const fault = at < 0 ? 'none' : this.faults.splice(at, 1)[0]!.fault;
    const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
    if (FAULTS[fault] !== undefined) return FAULTS[fault](response);
    const [status, answer] = this.#answer(method, new URL(url, this.url), body);
    if (fault === 'done-then-hang') return;
    if (fault === 'done-then-cut') return FAULTS.cut!(response);
    send(response, status, answer);
  }

  #answer(method: string, { pathname, searchParams }: URL, body: Record<string, unknown>): [number, unknown] {
    const [, , owner, repo, kind, number, part, name] = pathname.split('/');
    if (owner !== 'acme' || repo !== 'app') return [404, { message: 'Not Found' }];
    if (kind === undefined) return [200, { full_name: 'acme/app' }];
    if (number === undefined) return method === 'POST' ? this.#create(body) : this.#list(searchParams);
    const issue = this.issues.find((one) => one.number === Number(number));
    if (issue === undefined) return [404, { message: 'Not Found' }];
    if (part === 'comments' && method === 'POST') {
      issue.comments.push({ body: String(body['body']), created_at: this.#now() });
      return [201, { id: issue.comments.length }];
    }
    if (part === 'comments') return [200, issue.comments];
    if (part === 'labels' && method === 'POST') {
      issue.labels.push(...(body['labels'] as string[]).map((label) => ({ name: label })));
      return [200, issue.labels];
    }
    if (part === 'labels') {
      issue.labels = issue.labels.filter((label) => label.name !== decodeURIComponent(name ?? ''));
      return [200, issue.labels];
    }
    if (method === 'PATCH') Object.assign(issue, { state_reason: null }, body);
    return [200, view(issue)];
  }

  #create(body: Record<string, unknown>): [number, unknown] {
    const number = this.issues.length + 1;
    const issue: Issue = {
      number,
      title: String(body['title']),
      body: String(body['body']),
      ...{ state: 'open', state_reason: null, comments: [], created_at: this.#now() },
      labels: (body['labels'] as string[]).map((name) => ({ name })),
      html_url: `https://github.example/acme/app/issues/${number}`,
    };
    this.issues.push(issue);
    return [201, view(issue)];
  }

  #list(query: URLSearchParams): [number, unknown] {
    const since = Date.parse(query.get('since') ?? '');
    const size = Number(query.get('per_page') ?? 30);
    const page = Number(query.get('page') ?? 1);
    const all = this.issues.filter(({ created_at }) => !(Date.parse(created_at) < since)).reverse();
    return [200, all.slice((page - 1) * size, page * size).map(view)];
  }

  #now(): string {
    return new Date(Date.now() + this.clockOffMs).toISOString();
  }
}

const view = ({ comments, ...issue }: Issue) => ({ ...issue, comments: comments.length });

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const FAULTS: Partial<Record<Fault, (response: ServerResponse) => void>> = {
  hang: () => {},
  cut: (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"num', () => response.destroy());
  },
  '500': (response) => send(response, 500, { message: 'Server Error' }),
  'no-json': (response) => response.writeHead(200).end('<html>maintenance</html>'),
  '401': (response) => send(response, 401, { message: 'Bad credentials' }),
  '403': (response) => send(response, 403, { message: 'Resource not accessible by personal access token' }),
  '404': (response) => send(response, 404, { message: 'Not Found' }),
  '301': (response) =>
    send(response, 301, { message: 'Moved Permanently' }, { location: 'https://elsewhere.example/' }),
  '422': (response) => send(response, 422, { message: 'Validation Failed', errors: [] }),
  'rate-limited': (response) =>
    send(
      response,
      403,
      { message: 'API rate limit exceeded for user ID 1.' },
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 600) },
    ),
  'secondary-limit': (response) =>
    send(response, 403, { message: 'You have exceeded a secondary rate limit.' }, { 'retry-after': '90' }),
};
