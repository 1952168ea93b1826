/** Calls of GitHub's REST API for issues, and what its refusals mean. */

import { fieldsOf, parseJson } from '../../base/pure/json.ts';
import { retryAfterMs, untilMs } from '../../base/pure/retry-after.ts';
import { cleanLine } from './rules/clean.ts';
import type { TrackerSpec } from './rules/settings.ts';
import type { DeliveryProblem } from './ports.ts';
import type { Ask, HttpAnswer, HttpRequest } from '../web.ts';
import { hostOf } from '../web-address.ts';

export type GithubSpec = Extract<TrackerSpec, { kind: 'github' }>;

/** Thrown inside this folder only; the tracker turns it into a result. */
export class GithubProblem extends Error {
  readonly problem: DeliveryProblem;

  constructor(problem: DeliveryProblem) {
    super(problem.message);
    this.problem = problem;
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

export function githubApi(spec: GithubSpec, ask: Ask, signal: AbortSignal): GithubApi {
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
      if (outcome.kind === 'failed') throw new GithubProblem({ kind: 'later', message: outcome.why });
      const { answer } = outcome;
      if (answer.status < 200 || answer.status >= 300) throw problemOf(answer, spec);
      const value = answer.text === '' ? null : parseJson(answer.text);
      if (value !== undefined) return value;
      throw new GithubProblem({ kind: 'later', message: `${hostOf(url)} answered something that is no JSON` });
    },
  };
}

function problemOf(answer: HttpAnswer, { url, repo, token }: GithubSpec): GithubProblem {
  const { status } = answer;
  const said = fieldsOf(parseJson(answer.text))?.['message'];
  const words = typeof said === 'string' ? cleanLine(said, MAX_WORDS_CHARS, [token]) : '';
  const what = `${hostOf(url)} answered HTTP ${status}${words === '' ? '' : `: ${words}`}`;
  const pauseMs = pauseOf(answer, words);
  if (pauseMs !== null) return new GithubProblem({ kind: 'later', message: what, pauseMs });
  if (status === 401) return stop(`${what}; the token of this tracker is not accepted: give another one`);
  if (status === 403) return stop(`${what}; the token may not write issues in ${repo}: give it "Issues: write"`);
  if (status === 404) {
    const hint = `is ${repo} the right repository, and may the token see it?`;
    return new GithubMissing({ kind: 'halt', message: `${what}; ${hint}` });
  }
  if (status === 410)
    return new GithubMissing({ kind: 'halt', message: `${what}; are issues switched off in ${repo}?` });
  if (status >= 300 && status < 400) return stop(`${what}; ${repo} has moved: give its new name`);
  if (status >= 500 || status === 408) return new GithubProblem({ kind: 'later', message: what });
  return new GithubProblem({ kind: 'refused', message: what });
}

const stop = (message: string): GithubProblem => new GithubProblem({ kind: 'halt', message });

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
