import { describe, expect, test } from 'vitest';
import { afterExamination, afterRecovery, closed } from '../../../src/incidents/tickets/rules/notes.ts';
import { ticketFor } from '../../../src/incidents/tickets/rules/policy.ts';
import { freePort } from '../../support/free-port.ts';
import { type Fault, GithubServer } from '../../support/github-server.ts';
import {
  crashSample,
  githubSpec,
  HOUR,
  incidentSample,
  settings,
  ticketSample,
  wall,
} from '../../support/ticket-samples.ts';
import { waitFor } from '../../support/wait-for.ts';
import { TicketsWorld } from './tickets-world.ts';

const TIMEOUT_MS = 400;

function spec(server: GithubServer) {
  return settings({ trackers: [githubSpec({ url: server.url, timeoutMs: TIMEOUT_MS })] });
}

/** It crashed again, so much later that this is told. */
function again(world: TicketsWorld, server: GithubServer, count = 9, now = Date.now() + 2 * HOUR): void {
  const change = ticketFor({
    incident: incidentSample(count, now),
    evidence: { kind: 'crash', crash: crashSample() },
    existing: world.book.find(3),
    ...{ settings: spec(server), now: wall(now), nextNumber: 4, key: 'unused' },
  })!;
  world.book.save(change.ticket, change.told);
  world.service.filed([change.ticket]);
}

/** Filed now, by the clock of this machine. */
const fresh = (server: GithubServer) => {
  const ticket = ticketSample(spec(server));
  const github = ticket.trackers['github']!;
  const errands = github.errands.map((update) => ({ ...update, at: wall(Date.now()) }));
  return { ...ticket, trackers: { github: { ...github, errands } } };
};

describe('an issue', () => {
  test('is created with title, body, labels and the token, and its address is kept', async () => {
    await using server = await GithubServer.open();
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    expect(server.issues).toHaveLength(1);
    const [issue] = server.issues;
    expect(issue?.title).toContain('worker: ImportError');
    expect(issue?.body).toContain('SkillNames');
    expect(issue?.labels.map(({ name }) => name)).toEqual(['bug', 'priority: high']);
    expect(world.standing('github')).toMatchObject({ id: '1', address: 'https://github.example/acme/app/issues/1' });
    expect(world.book.told).toMatchObject([{ type: 'ticket.delivered', data: { tracker: 'github', deed: 'create' } }]);
    expect([...server.tokens]).toEqual([`Bearer ${githubSpec().token}`]);
  });

  test('gets a comment with the new count, and the label of a higher priority', async () => {
    await using server = await GithubServer.open();
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    again(world, server, 11);
    await world.delivered('github');
    const [issue] = server.issues;
    expect(issue?.comments).toHaveLength(1);
    expect(issue?.comments[0]?.body).toContain('11 times so far');
    expect(issue?.labels.map(({ name }) => name)).toEqual(['bug', 'priority: critical']);
  });

  test('is closed and reopened with its ticket', async () => {
    await using server = await GithubServer.open();
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    world.service.close(3);
    await world.delivered('github');
    expect(server.issues[0]).toMatchObject({ state: 'closed', state_reason: 'completed' });
    again(world, server);
    await world.delivered('github');
    expect(server.issues[0]).toMatchObject({ state: 'open' });
    expect(server.issues[0]?.comments.at(-1)?.body).toContain('Reopened.');
  });

  test('that somebody closed as mended is opened when it happens again, but not by a recovery', async () => {
    await using server = await GithubServer.open();
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    Object.assign(server.issues[0]!, { state: 'closed', state_reason: 'completed' });
    const well = afterRecovery(world.book.find(3)!, spec(server), wall(Date.now()))!;
    world.book.save(well.ticket, well.told);
    world.service.filed([well.ticket]);
    await world.delivered('github');
    expect(server.issues[0]).toMatchObject({ state: 'closed', comments: [] });
    again(world, server);
    await world.delivered('github');
    expect(server.issues[0]).toMatchObject({ state: 'open', comments: [{}] });
  });

  test('that somebody closed for good stays closed, and gets no comments', async () => {
    await using server = await GithubServer.open();
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    Object.assign(server.issues[0]!, { state: 'closed', state_reason: 'not_planned' });
    again(world, server);
    await world.delivered('github');
    expect(server.issues[0]).toMatchObject({ state: 'closed', comments: [] });
  });

  test('that somebody closed for good stays closed also when the ticket was closed here and it crashes; only people open it', async () => {
    await using server = await GithubServer.open();
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    world.service.close(3);
    await world.delivered('github');
    Object.assign(server.issues[0]!, { state: 'closed', state_reason: 'not_planned' });
    again(world, server);
    await world.delivered('github');
    expect(world.book.find(3)?.state).toBe('open');
    expect(server.issues[0]).toMatchObject({ state: 'closed', comments: [] });
    world.service.close(3);
    world.service.reopen(3);
    await world.delivered('github');
    expect(server.issues[0]).toMatchObject({ state: 'open' });
  });

  test('gets what a frozen process was doing, once it is known', async () => {
    await using server = await GithubServer.open();
    await using world = new TicketsWorld(spec(server), [{ ...fresh(server), category: 'freeze', errorLogs: 'silent' }]);
    await world.delivered('github');
    const evidence = ['pid 7 python3 (S): futex_wait', '[<0>] futex_wait+0x16c/0x2a0'];
    const freeze = { reason: 'frozen: no heartbeat for 9 s', silent_since: '', steps: [], evidence };
    const crash = crashSample({ freeze, logTail: ['  File "loop.py", line 35, in wait'] });
    const when = { now: wall(Date.now()), known: [] };
    const change = afterExamination(world.book.find(3)!, crash, spec(server), when)!;
    world.book.save(change.ticket, change.told);
    world.service.filed([change.ticket]);
    await world.delivered('github');
    const body = server.issues[0]?.comments[0]?.body;
    for (const line of [...evidence, '  File "loop.py", line 35, in wait']) expect(body).toContain(line);
    expect(world.book.find(3)?.errorLogs).toContain('futex_wait+0x16c');
    expect(afterExamination(change.ticket, crash, spec(server), when)).toBeNull();
  });

  test('that somebody deleted is not made again, and that is said', async () => {
    await using server = await GithubServer.open();
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    server.issues.length = 0;
    again(world, server);
    await world.delivered('github');
    expect(server.issues).toEqual([]);
    expect(world.logged.join()).toContain('issue 1 of acme/app is gone');
  });
});

describe('whatever the server does', () => {
  const PASSING: readonly Fault[] = [
    'hang',
    'cut',
    '500',
    'no-json',
    'done-then-hang',
    'done-then-cut',
    'rate-limited',
    'secondary-limit',
  ];

  test.each(
    PASSING.flatMap((fault) => [
      { fault, when: 'GET' },
      { fault, when: 'POST' },
    ]),
  )('there is one issue in the end: $fault at $when', async ({ fault, when }) => {
    await using server = await GithubServer.open();
    server.faults = [{ fault, when }];
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    expect(server.issues).toHaveLength(1);
    expect(server.faults).toEqual([]);
    expect(world.book.told.map(({ type }) => type)).toEqual(['ticket.delivery-failed', 'ticket.delivered']);
    expect(world.everything()).not.toContain(githubSpec().token);
  });

  test.each(
    PASSING.flatMap((fault) => [
      { fault, when: 'GET' },
      { fault, when: 'POST' },
    ]),
  )('there is one comment in the end: $fault at $when', async ({ fault, when }) => {
    await using server = await GithubServer.open();
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    server.faults = [{ fault, when }];
    again(world, server);
    await world.delivered('github');
    expect(server.faults).toEqual([]);
    expect(server.issues[0]?.comments).toHaveLength(1);
  });

  test('killed while creating, the next of us finds what was made', async () => {
    await using server = await GithubServer.open();
    server.faults = [{ fault: 'done-then-hang', when: 'POST' }];
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await waitFor('the issue to be made', () => server.issues.length === 1);
    await world.restart(spec(server));
    await world.delivered('github');
    expect(server.issues).toHaveLength(1);
    expect(world.standing('github').id).toBe('1');
  });

  test('a clock that is half a day off does not hide what was made', async () => {
    await using server = await GithubServer.open();
    server.clockOffMs = -12 * HOUR;
    server.faults = [{ fault: 'done-then-cut', when: 'POST' }];
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await world.delivered('github');
    expect(server.issues).toHaveLength(1);
  });

  test('among hundreds of new issues the one is found', async () => {
    await using server = await GithubServer.open();
    server.faults = [{ fault: 'done-then-cut', when: 'POST' }];
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await waitFor('the issue to be made', () => server.issues.length === 1);
    const [made] = server.issues;
    for (let number = 2; number <= 350; number++) server.issues.push({ ...made!, number, body: 'of somebody else' });
    await world.delivered('github');
    expect(server.issues).toHaveLength(350);
    expect(world.standing('github').id).toBe('1');
  });

  test('a rate limit is waited for, and nothing is asked meanwhile', async () => {
    await using server = await GithubServer.open();
    server.faults = [{ fault: 'rate-limited' }];
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await waitFor('the refusal to be written down', () => world.standing('github').error !== null);
    await world.clock.advance(500_000);
    expect(server.calls).toHaveLength(1);
    expect(world.standing('github').error).toContain('rate limit exceeded');
    await world.delivered('github');
  });

  test.each<readonly [fault: Fault, words: string]>([
    ['401', 'give another one'],
    ['403', 'Issues: write'],
    ['404', 'is acme/app the right repository'],
    ['301', 'has moved'],
  ])('%s stops it, says what to do, and a reload tries again', async (fault, words) => {
    await using server = await GithubServer.open();
    server.faults = [{ fault }, { fault }];
    await using world = new TicketsWorld(spec(server), [fresh(server)]);
    await waitFor('it to stop', () => world.standing('github').stopped);
    await world.clock.advance(24 * HOUR);
    expect(server.calls).toHaveLength(1);
    expect(world.standing('github').error).toContain(words);
    expect(world.book.told).toMatchObject([{ type: 'ticket.delivery-failed', data: { stopped: true } }]);
    expect(world.everything()).not.toContain(githubSpec().token);
    server.faults = [];
    world.service.use(spec(server));
    await world.delivered('github');
    expect(server.issues).toHaveLength(1);
  });

  test('a ticket that is refused holds up no other', async () => {
    await using server = await GithubServer.open();
    server.faults = [{ fault: '422', when: 'POST' }];
    const other = { ...fresh(server), number: 4, key: 'another'.padEnd(32, '0') };
    const update = { ...other.trackers.github.errands[0]!, key: other.key };
    const second = { ...other, trackers: { github: { ...other.trackers.github, errands: [update] } } };
    await using world = new TicketsWorld(spec(server), [fresh(server), second]);
    await world.delivered('github', 4);
    expect(world.standing('github', 3)).toMatchObject({ stopped: true, error: expect.stringContaining('422') });
    expect(server.issues).toHaveLength(1);
  });

  test('nobody there: pauses grow, it is told once, and closing it waits for nothing', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const away = settings({ trackers: [githubSpec({ url })] });
    await using world = new TicketsWorld(away, [ticketSample(away)]);
    await world.until('a few tries', () => world.standing('github').attempts >= 6);
    const { nextAt, error } = world.standing('github');
    expect(nextAt! - world.clock.wallNow()).toBeGreaterThan(60_000);
    expect(error).toMatch(/connection refused/);
    expect(world.book.told).toHaveLength(1);
    await world.until('it to be given up', () => world.standing('github').stopped);
    expect(world.book.told).toMatchObject([{}, { data: { stopped: true } }]);
  });

  test('what is closed before the tracker ever heard of it is created and closed', async () => {
    await using server = await GithubServer.open();
    const shut = closed(fresh(server), spec(server), wall(Date.now()))!.ticket;
    await using world = new TicketsWorld(spec(server), [shut]);
    await world.delivered('github');
    expect(server.issues).toMatchObject([{ state: 'closed' }]);
  });
});
