/** Looks whether something was written before: the answer to the last try may have been lost, or we were killed before it came. */
import { type Fields, isObject } from '../../base/pure/json.ts';
import { hasMarker } from './rules/markdown.ts';
import type { Errand } from './rules/ticket.ts';
import type { GithubApi } from './github-api.ts';

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
export async function findIssue(api: GithubApi, repo: string, { key, at }: Errand): Promise<Issue | null> {
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

export async function hasComment(api: GithubApi, issue: number, { key, at }: Errand): Promise<boolean> {
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
