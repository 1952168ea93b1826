/** Tickets as issues of a GitHub repository: one issue each, a comment when it happens again, reopened when it comes back. */
import { commentBody, issueBody, plainTitle } from './rules/markdown.ts';
import type { Deed, Priority } from './rules/ticket.ts';
import type { Delivery, DeliveryResult, Tracker } from './ports.ts';
import type { Ask } from '../web.ts';
import { webAddress } from '../web-address.ts';
import { done, failed } from './outcome.ts';
import { type GithubApi, GithubMissing, GithubProblem, type GithubSpec, githubApi } from './github-api.ts';
import { findIssue, hasComment, type Issue, issueOf } from './github-find.ts';

const DEEDS: ReadonlySet<Deed> = new Set(['create', 'comment', 'recovered', 'reopen', 'close']);
const PRIORITY_LABEL = 'priority: ';

export function createGithubTracker(spec: GithubSpec, ask: Ask): Tracker {
  return {
    name: spec.name,
    target: spec.target,
    deeds: DEEDS,
    async deliver(delivery, signal) {
      try {
        return await perform(githubApi(spec, ask, signal), spec, delivery);
      } catch (error) {
        if (error instanceof GithubProblem) return failed(error.problem);
        throw error;
      }
    },
  };
}

async function perform(api: GithubApi, spec: GithubSpec, delivery: Delivery): Promise<DeliveryResult> {
  const known = delivery.id === null ? null : await issueNumbered(api, delivery.id);
  if (delivery.id !== null && known === null) {
    // Its repository answers, so it is this one issue that is gone: somebody deleted or moved it.
    return done({ id: delivery.id, address: delivery.address, note: `issue ${delivery.id} of ${spec.repo} is gone` });
  }
  const issue = known ?? (await created(api, spec, delivery));
  if (known !== null) await follow(api, delivery, issue);
  return done({ id: String(issue.number), address: webAddress(issue.address) ?? delivery.address });
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

async function created(api: GithubApi, { labels, repo }: GithubSpec, { ticket, errand }: Delivery): Promise<Issue> {
  // A ticket that must be known by now, but whose number was never learnt, is looked for by its own key.
  const creation = { ...errand, key: ticket.key };
  const found = await findIssue(api, repo, creation);
  if (found !== null) return found;
  const body = {
    title: plainTitle(ticket.title),
    body: issueBody(ticket),
    labels: [...labels, labelOf(ticket.priority)],
  };
  const issue = issueOf(await api.call('POST', '/issues', body));
  if (issue !== null) return issue;
  throw new GithubProblem({ kind: 'later', message: `the answer about a new issue in ${repo} has no number` });
}

/** What is to be said about an issue that is there. All of it may be done twice without harm. */
async function follow(api: GithubApi, { ticket, errand }: Delivery, issue: Issue): Promise<void> {
  const path = `/issues/${issue.number}`;
  if (errand.deed === 'create') return;
  if (errand.deed === 'close') {
    if (issue.isOpen) await api.call('PATCH', path, { state: 'closed', state_reason: 'completed' });
    return;
  }
  // Somebody closed it there: for good, or because it seemed to be mended. A recovery opens nothing, and only people undo "for good".
  const staysClosed = issue.isRejected ? errand.byHand !== true : errand.deed === 'recovered';
  if (!issue.isOpen && staysClosed) return;
  if (!issue.isOpen) await api.call('PATCH', path, { state: 'open' });
  if (!(await hasComment(api, issue.number, errand))) {
    await api.call('POST', `${path}/comments`, { body: commentBody(errand) });
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
