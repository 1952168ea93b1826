/** Tickets as issues of a GitHub repository: one issue each, a comment when it happens again, reopened when it comes back. */

import { z } from 'zod';
import { type Fields, fieldsOf, isObject, parseJson } from '../../../base/pure/json.ts';
import { retryAfterMs, untilMs } from '../../../base/pure/retry-after.ts';
import { DEFAULTS } from '../../../config/defaults.ts';
import { bareText, leaf, optional, orVariable, text, webAddress } from '../../../config/leaves.ts';
import { type Reader, readText, refuse } from '../../../config/readers.ts';
import { quoted } from '../../../config/text.ts';
import type { ScalarNode } from '../../../config/tree.ts';
import { wrapped } from '../../../config/words/argv.ts';
import { type DeliveryFailure, type DeliveryResult, halt, later, refused } from '../../delivery-queue.ts';
import { type Ask, type HttpAnswer, type HttpRequest, hostOf, shownAddress } from '../../web.ts';
import { type Delivered, type Delivery, type ResolvedTracker, type TrackerKind, timeout } from '../kind.ts';
import { commentBody, hasMarker, issueBody, plainTitle } from '../rules/markdown.ts';
import { cleanLine } from '../rules/text.ts';
import type { PendingUpdate, Priority } from '../rules/ticket.ts';

const readRepository: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  if (/^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(text) && !text.includes('..')) return { value: text };
  const [, meant] = /github[^/]*\/+([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec((node as ScalarNode).source) ?? [];
  return refuse(
    `${quoted((node as ScalarNode).source)} is not a repository`,
    meant === undefined ? 'Write its owner and its name: acme/app' : `Write: ${meant}`,
  );
};

export interface GithubTracker extends ResolvedTracker {
  readonly kind: 'github';
  readonly repo: string;
  readonly token: string;
  readonly url: string;
  readonly labels: readonly string[];
  readonly timeoutMs: number;
}

const schema = optional(
  z.strictObject({
    repo: leaf(readRepository, '`OWNER/NAME`', orVariable({ pattern: '^[\\w.-]+/[\\w.-]+$' })).meta({
      description: 'The repository whose issues are used.',
      example: 'acme/app',
    }),
    token: bareText.meta({
      description: 'A token that may write issues there. Take it from a variable, as in the example.',
      example: `\${GITHUB_TOKEN}`,
    }),
    url: optional(webAddress, {
      description: 'Where the API is. GitHub Enterprise: `https://HOST/api/v3`.',
      defaultsTo: DEFAULTS.tickets.githubUrl,
      example: 'https://github.example.com/api/v3',
    }),
    labels: optional(z.array(text), {
      description: 'Labels of new issues, beside the one for the priority.',
      defaultsTo: [],
      example: ['bug', 'keepwell'],
    }),
    timeout,
  }),
  { description: 'Issues of a GitHub repository.', defaultNote: 'none' },
);

const { githubUrl, timeoutMs: TIMEOUT_MS } = DEFAULTS.tickets;

export const github = {
  schema,
  missing: {
    repo: refuse('the repository is missing', 'Write: repo: acme/app'),
    token: refuse('the token is missing', `Write: token: "\${GITHUB_TOKEN}"`),
  },
  words: ['gh', 'issues'],
  inside: {
    repo: ['repository', 'project', 'name'],
    token: ['auth', 'password', 'apitoken'],
    url: ['api', 'apiurl', 'baseurl', 'endpoint', 'host'],
    labels: ['label', 'tags'],
    timeout: [],
  },
  forms: { '': wrapped('github', 'repo') },
  place: ({ repo }) => repo,
  resolve: ({ repo, token, url = githubUrl, labels = [], timeout: timeoutMs = TIMEOUT_MS }): GithubTracker => ({
    ...{ kind: 'github', target: `${url} ${repo}`, repo, token, url, labels, timeoutMs },
  }),
  keepsCopy: false,
  isElsewhere: true,
  deliver: async (tracker, delivery, { ask }, signal) => {
    try {
      return await perform(githubApi(tracker, ask, signal), tracker, delivery);
    } catch (error) {
      if (error instanceof GithubProblem) return error.failure;
      throw error;
    }
  },
} satisfies TrackerKind<typeof schema, GithubTracker>;

const PRIORITY_LABEL = 'priority: ';

async function perform(api: GithubApi, spec: GithubTracker, delivery: Delivery): Promise<DeliveryResult<Delivered>> {
  const known = delivery.id === null ? null : await issueNumbered(api, delivery.id);
  if (delivery.id !== null && known === null) {
    // Its repository answers, so it is this one issue that is gone: somebody deleted or moved it.
    return {
      ok: true,
      id: delivery.id,
      address: delivery.address,
      note: `issue ${delivery.id} of ${spec.repo} is gone`,
    };
  }
  const issue = known ?? (await created(api, spec, delivery));
  if (known !== null) await follow(api, delivery, issue);
  return { ok: true, id: String(issue.number), address: shownAddress(issue.address) ?? delivery.address };
}

async function issueNumbered(api: GithubApi, id: string): Promise<Issue | null> {
  try {
    return issueOf(await api.call('GET', `/issues/${id}`));
  } catch (error) {
    if (!(error instanceof GithubMissing)) throw error;
    await api.call('GET', ''); // throws when it is the whole repository that cannot be seen
    return null;
  }
}

async function created(api: GithubApi, { labels, repo }: GithubTracker, { ticket, update }: Delivery): Promise<Issue> {
  // A ticket that must be known by now, but whose number was never learnt, is looked for by its own key.
  const creation = { ...update, key: ticket.key };
  const found = await findIssue(api, repo, creation);
  if (found !== null) return found;
  const body = {
    title: plainTitle(ticket.title),
    body: issueBody(ticket),
    labels: [...labels, labelOf(ticket.priority)],
  };
  const issue = issueOf(await api.call('POST', '/issues', body));
  if (issue !== null) return issue;
  throw new GithubProblem(later(`the answer about a new issue in ${repo} has no number`));
}

/** What is to be said about an issue that is there. All of it may be done twice without harm. */
async function follow(api: GithubApi, { ticket, update }: Delivery, issue: Issue): Promise<void> {
  const path = `/issues/${issue.number}`;
  if (update.deed === 'create') return;
  if (update.deed === 'close') {
    if (issue.isOpen) await api.call('PATCH', path, { state: 'closed', state_reason: 'completed' });
    return;
  }
  // Somebody closed it there: for good, or because it seemed to be mended. A recovery opens nothing, and only people undo "for good".
  const staysClosed = issue.isRejected ? update.byHand !== true : update.deed === 'recovered';
  if (!issue.isOpen && staysClosed) return;
  if (!issue.isOpen) await api.call('PATCH', path, { state: 'open' });
  if (!(await hasComment(api, issue.number, update))) {
    await api.call('POST', `${path}/comments`, { body: commentBody(update) });
  }
  await label(api, path, issue, ticket.priority);
}

async function label(api: GithubApi, path: string, { labels }: Issue, priority: Priority): Promise<void> {
  const wanted = labelOf(priority);
  const ours = labels.filter((name) => name.startsWith(PRIORITY_LABEL));
  // Without a label of ours somebody took it away, or the token may not set any.
  if (ours.length === 0 || ours.includes(wanted)) return;
  await api.call('POST', `${path}/labels`, { labels: [wanted] });
  for (const old of ours) await withoutMissing(api.call('DELETE', `${path}/labels/${encodeURIComponent(old)}`));
}

/** Somebody was faster. */
async function withoutMissing(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof GithubMissing)) throw error;
  }
}

const labelOf = (priority: Priority): string => `${PRIORITY_LABEL}${priority}`;

// Looks whether something was written before: the answer to the last try may have been lost, or we were killed before it came.

export interface Issue {
  readonly number: number;
  readonly address: unknown;
  readonly isOpen: boolean;
  /** Somebody decided that nothing will be done about it. */
  readonly isRejected: boolean;
  readonly labels: readonly string[];
}

/** Our clock and GitHub's may differ. */
const CLOCK_MARGIN_MS = 24 * 3_600_000;
const PER_PAGE = 100;
/** In a repository with more new issues in a day than this, GitHub's search has to help. */
const MAX_PAGES = 10;

/** Newest first, as far back as the ticket. Lists are up to date at once; the search takes a while to know what is new. */
export async function findIssue(api: GithubApi, repo: string, { key, at }: PendingUpdate): Promise<Issue | null> {
  const since = at - CLOCK_MARGIN_MS;
  const query = `state=all&sort=created&direction=desc&since=${encodeURIComponent(iso(since))}&per_page=${PER_PAGE}`;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const issues = objectsOf(await api.call('GET', `/issues?${query}&page=${page}`));
    const found = issues.find((one) => hasMarker(String(one['body'] ?? ''), key));
    if (found !== undefined) return issueOf(found);
    const isBefore = issues.some((one) => Date.parse(String(one['created_at'])) < since);
    if (issues.length < PER_PAGE || isBefore) return null;
  }
  return searchIssue(api, repo, key);
}

async function searchIssue(api: GithubApi, repo: string, key: string): Promise<Issue | null> {
  const answer = await api.call('GET', `/search/issues?q=${encodeURIComponent(`"${key}" in:body repo:${repo}`)}`);
  const items = objectsOf((answer as { items?: unknown } | null)?.items);
  const found = items.find((one) => hasMarker(String(one['body'] ?? ''), key));
  return found === undefined ? null : issueOf(found);
}

export async function hasComment(api: GithubApi, issue: number, { key, at }: PendingUpdate): Promise<boolean> {
  const since = encodeURIComponent(iso(at - CLOCK_MARGIN_MS));
  for (let page = 1; page <= MAX_PAGES; page++) {
    const path = `/issues/${issue}/comments?since=${since}&per_page=${PER_PAGE}&page=${page}`;
    const comments = objectsOf(await api.call('GET', path));
    if (comments.some((one) => hasMarker(String(one['body'] ?? ''), key))) return true;
    if (comments.length < PER_PAGE) return false;
  }
  return false;
}

export function issueOf(value: unknown): Issue | null {
  const [one] = objectsOf([value]);
  const number = one?.['number'];
  if (one === undefined || typeof number !== 'number' || !Number.isSafeInteger(number)) return null;
  return {
    number,
    address: one['html_url'],
    isOpen: one['state'] !== 'closed',
    isRejected: one['state_reason'] === 'not_planned' || one['state_reason'] === 'duplicate',
    labels: labelsOf(one['labels']),
  };
}

const labelsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : []).flatMap((one: unknown) => {
    const name = typeof one === 'string' ? one : objectsOf([one])[0]?.['name'];
    return typeof name === 'string' ? [name] : [];
  });

const objectsOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []).filter(isObject);

const iso = (wallMs: number): string => new Date(wallMs).toISOString();

// Calls of GitHub's REST API for issues, and what its refusals mean.

/** Thrown inside this folder only; the tracker turns it into a result. */
export class GithubProblem extends Error {
  readonly failure: DeliveryFailure;

  constructor(failure: DeliveryFailure) {
    super(failure.problem);
    this.failure = failure;
  }
}

/** The thing asked for is not there, or cannot be seen with this token. */
export class GithubMissing extends GithubProblem {}

export interface GithubApi {
  /** A path after /repos/OWNER/NAME, or a whole one that begins with /search. Gives the JSON of a good answer. */
  call(method: HttpRequest['method'], path: string, body?: unknown): Promise<unknown>;
}

/** Without a hint from GitHub, its rules ask for a minute. */
const SECONDARY_PAUSE_MS = 60_000;
const MAX_WORDS_CHARS = 200;

export function githubApi(spec: GithubTracker, ask: Ask, signal: AbortSignal): GithubApi {
  const { url, repo, token, timeoutMs } = spec;
  const headers = {
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    authorization: `Bearer ${token}`,
  };
  return {
    async call(method, path, body) {
      const whole = `${url}${path.startsWith('/search') ? '' : `/repos/${repo}`}${path}`;
      const outcome = await ask(
        { method, url: whole, headers, timeoutMs, reads: 'all', ...(body === undefined ? {} : { body }) },
        signal,
      );
      if (outcome.kind === 'failed') throw new GithubProblem(later(outcome.why));
      const { answer } = outcome;
      if (answer.status < 200 || answer.status >= 300) throw problemOf(answer, spec);
      const value = answer.text === '' ? null : parseJson(answer.text);
      if (value !== undefined) return value;
      throw new GithubProblem(later(`${hostOf(url)} answered something that is no JSON`));
    },
  };
}

function problemOf(answer: HttpAnswer, { url, repo, token }: GithubTracker): GithubProblem {
  const { status } = answer;
  const said = fieldsOf(parseJson(answer.text))?.['message'];
  const words = typeof said === 'string' ? cleanLine(said, MAX_WORDS_CHARS, [token]) : '';
  const what = `${hostOf(url)} answered HTTP ${status}${words === '' ? '' : `: ${words}`}`;
  const pauseMs = pauseOf(answer, words);
  if (pauseMs !== null) return new GithubProblem(later(what, pauseMs));
  if (status === 401) return stop(`${what}; the token of this tracker is not accepted: give another one`);
  if (status === 403) return stop(`${what}; the token may not write issues in ${repo}: give it "Issues: write"`);
  if (status === 404) {
    const hint = `is ${repo} the right repository, and may the token see it?`;
    return new GithubMissing(halt(`${what}; ${hint}`));
  }
  if (status === 410) return new GithubMissing(halt(`${what}; are issues switched off in ${repo}?`));
  if (status >= 300 && status < 400) return stop(`${what}; ${repo} has moved: give its new name`);
  if (status >= 500 || status === 408) return new GithubProblem(later(what));
  return new GithubProblem(refused(what));
}

const stop = (message: string): GithubProblem => new GithubProblem(halt(message));

/** How long GitHub wants to be left alone; null: it does not. */
function pauseOf(answer: HttpAnswer, words: string): number | null {
  const { status, header } = answer;
  if (status !== 403 && status !== 429 && status < 500) return null;
  const asked = retryAfterMs(answer);
  if (asked !== null) return asked;
  const reset = Number(header('x-ratelimit-reset'));
  if (header('x-ratelimit-remaining') === '0' && reset > 0) return untilMs(answer, reset * 1000);
  return status === 429 || /rate limit|abuse/i.test(words) ? SECONDARY_PAUSE_MS : null;
}
