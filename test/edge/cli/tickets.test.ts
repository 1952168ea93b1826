import { expect, test } from 'vitest';
import { AppError } from '../../../src/base/pure/errors.ts';
import { bugNumber } from '../../../src/incidents/tickets/rules/number.ts';
import type { Ticket } from '../../../src/incidents/tickets/rules/ticket.ts';
import { START, settings, ticketSample, wall } from '../../support/ticket-samples.ts';
import { CliWorld } from './cli-world.ts';

/** A world with these tickets, and what was asked about them. */
async function worldWith(...tickets: readonly Ticket[]) {
  const world = await CliWorld.served();
  const control = world.served!.control;
  const all = new Map(tickets.map((ticket) => [ticket.number, ticket]));
  const changed: string[] = [];
  const find = (number: number): Ticket => {
    const ticket = all.get(number);
    if (ticket === undefined) throw new AppError('NO_SUCH_TICKET', { ticket: bugNumber(number) });
    return ticket;
  };
  const change = (number: number, state: Ticket['state']): Ticket => {
    changed.push(`${state} ${number}`);
    const ticket: Ticket = { ...find(number), state, closedAt: state === 'closed' ? wall(START) : null };
    all.set(number, ticket);
    return ticket;
  };
  control.tickets.list = ({ state }) => [...all.values()].filter((one) => state === undefined || one.state === state);
  control.tickets.show = find;
  control.tickets.close = (number) => change(number, 'closed');
  control.tickets.reopen = (number) => change(number, 'open');
  return { world, changed, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const none = settings({ trackers: [] });
const three = () => [1, 2, 13].map((number) => ticketSample(none, {}, number));

test('the list is a table for people and one document for programs', async () => {
  await using it = await worldWith(...three());
  const shown = await it.world.run('tickets');
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toMatch(/^NUMBER\s+STATE\s+PRIORITY\s+COUNT\s+LAST SEEN\s+TITLE\nBUG-001\s+open\s+high\s+3\s/);
  const json = JSON.parse((await it.world.run('tickets', 'list', '-o', 'json')).out);
  expect(json).toMatchObject({ schema_version: 1, tickets: [{ number: 'BUG-001', state: 'open', count: 3 }, {}, {}] });
  await using empty = await worldWith();
  expect(await empty.world.run('tickets')).toMatchObject({ code: 0, out: 'no open tickets\n' });
});

test('one is shown whole, by every way to write its number', async () => {
  await using it = await worldWith(...three());
  for (const number of ['BUG-002', 'bug-2', '2', '#2']) {
    const { code, out } = await it.world.run('tickets', 'show', number);
    expect(code).toBe(0);
    for (const words of [
      'BUG-002 worker: ImportError',
      'How to reproduce it:',
      'keepwell start worker',
      'app/names.py',
      'Traceback',
    ])
      expect(out).toContain(words);
  }
  const json = JSON.parse((await it.world.run('tickets', 'show', '2', '-o', 'json')).out);
  expect(json).toMatchObject({
    schema_version: 1,
    ticket: { number: 'BUG-002', reproduction_steps: expect.any(Array) },
  });
});

test('what crashed cannot paint on the terminal', async () => {
  const hostile: Ticket = {
    ...ticketSample(none),
    title: 'x \u001b[2J\u202e y',
    errorLogs: '\u001b]0;owned\u0007 text',
  };
  await using it = await worldWith(hostile);
  for (const args of [['tickets'], ['tickets', 'show', '3']])
    expect((await it.world.run(...args)).out).not.toMatch(/[\u001b\u202e\u0007]/);
});

test('how far trackers know about it is shown, with why not', async () => {
  const ticket = ticketSample(settings());
  const standing = { ...ticket.trackers['local']!, error: 'cannot write in /tickets: EACCES', stopped: true };
  await using it = await worldWith({ ...ticket, trackers: { local: standing } });
  expect((await it.world.run('tickets', 'show', '3')).out).toMatch(
    /local:\s+not delivered, no further tries: cannot write/,
  );
});

test('several are closed by number and by pattern, each once', async () => {
  await using it = await worldWith(...three());
  const closed = await it.world.run('tickets', 'close', 'BUG-00*', '1', '13');
  expect(closed).toMatchObject({ code: 0, out: 'closed BUG-001\nclosed BUG-002\nclosed BUG-013\n' });
  expect(it.changed).toEqual(['closed 1', 'closed 2', 'closed 13']);
  const open = await it.world.run('tickets', 'reopen', 'bug-01?', '-o', 'json');
  expect(JSON.parse(open.out)).toMatchObject({ tickets: [{ number: 'BUG-013', state: 'open', closed_at: null }] });
});

test('what is as it should be already is said to be so', async () => {
  await using it = await worldWith(...three());
  expect((await it.world.run('tickets', 'reopen', '1')).out).toBe('BUG-001 is open already\n');
  expect((await it.world.run('tickets', 'close', '1', '2')).out).toBe('closed BUG-001\nclosed BUG-002\n');
  expect((await it.world.run('tickets', 'close', '2')).out).toBe('BUG-002 is closed already\n');
});

test('nothing is closed when one of them is not there', async () => {
  await using it = await worldWith(...three());
  const wrong = await it.world.run('tickets', 'close', '1', '99');
  expect(wrong).toMatchObject({ code: 4, err: expect.stringContaining('There is no ticket BUG-099.') });
  const pattern = await it.world.run('tickets', 'close', 'BUG-9*');
  expect(pattern).toMatchObject({ code: 4, err: expect.stringContaining('There is no ticket BUG-9*.') });
  expect(it.changed).toEqual([]);
});

test.each([
  [['shwo', '3'], 'Did you mean "show"?'],
  [['BUG-003'], 'keepwell tickets show BUG-003'],
  [['show'], 'Write: keepwell tickets show NUMBER'],
  [['show', 'three'], '"three" is not the number of a ticket.'],
  [['close'], 'needs at least one NUMBER'],
  [['list', '3'], '"tickets show NUMBER" shows one'],
  [['close', '1', '--all'], '"tickets close" has no option --all.'],
])('tickets %j is refused with what to write', async (args, said) => {
  await using it = await worldWith(...three());
  expect(await it.world.run('tickets', ...args)).toMatchObject({ code: 2, err: expect.stringContaining(said) });
  expect(it.changed).toEqual([]);
});
