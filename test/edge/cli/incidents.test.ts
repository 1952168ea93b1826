import { expect, test } from 'vitest';
import type { Incident } from '../../../src/incidents/rules/incident.ts';
import { START, wall } from '../../support/ticket-samples.ts';
import { CliWorld } from './cli-world.ts';

const incident = (id: number, over: Partial<Incident> = {}): Incident => {
  const subject = { kind: 'component', name: 'db' } as const;
  return {
    ...{ id, fingerprint: `v1:${id}`, tasks: [], subject, subjects: [subject], title: `db: failed in way ${id}` },
    ...{ rootCause: 'no space left', state: 'open', openedAt: wall(START), lastAt: wall(START), resolvedAt: null },
    ...{ count: 2, recent: [], affected: [], reopened: 0, ticket: null, waiting: ['component db'], counted: [] },
    ...over,
  };
};
const RESOLVED = { state: 'resolved', resolvedAt: wall(START), waiting: [] } as const;

async function worldWith(...incidents: readonly Incident[]): Promise<CliWorld> {
  const world = await CliWorld.served();
  world.served!.control.incidents.incidents = ({ state }) =>
    incidents.filter((one) => state === undefined || one.state === state);
  return world;
}

test('what is wrong now is a line each, with what it affects and its ticket', async () => {
  await using world = await worldWith(
    incident(2, { affected: ['api', 'web', 'mail', 'cron', 'jobs'], ticket: 3 }),
    incident(1, RESOLVED),
  );
  const { code, out, err } = await world.run('incidents');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const [header, line, ...more] = out.trimEnd().split('\n');
  expect(header).toMatch(/^NUMBER +STATE +COUNT +LAST +TICKET +AFFECTED +WHAT$/);
  expect(line).toMatch(/^2 +open +2 +.* BUG-003 +api, web, mail \+2 +db: failed in way 2$/);
  expect(more).toEqual(['incident 2 affects api, web, mail, cron, jobs']);
  const json = JSON.parse((await world.run('incidents', '-o', 'json')).out);
  expect(json).toMatchObject({
    schema_version: 1,
    incidents: [{ id: 2, ticket: 'BUG-003', root_cause: 'no space left' }],
  });
});

test('everybody who shares the cause is named, components and tasks alike', async () => {
  const component = (name: string) => ({ kind: 'component', name }) as const;
  const agent = { kind: 'agent', name: 'architect' } as const;
  await using world = await worldWith(
    incident(2, { subjects: ['db', 'billing', 'mail'].map(component) }),
    incident(1, { subject: agent, subjects: [agent], tasks: ['T-1', 'T-2', 'T-3', 'T-4'] }),
  );
  const [, first, second, names] = (await world.run('incidents')).out.split('\n');
  expect(first).toMatch(/ billing, mail +db: failed/);
  expect(second).toMatch(/ T-1, T-2, T-3 \+1 +db: failed/);
  expect(names).toBe('incident 1 affects T-1, T-2, T-3, T-4');
  const json = JSON.parse((await world.run('incidents', '-o', 'json')).out);
  expect(json.incidents).toMatchObject([{ tasks: [] }, { tasks: ['T-1', 'T-2', 'T-3', 'T-4'], task_id: null }]);
});

test('those that are resolved are shown when asked for, and what one turned out to be a part of', async () => {
  await using world = await worldWith(incident(2), incident(1, { ...RESOLVED, foldedInto: 2 }));
  expect((await world.run('incidents', '--all')).out.trimEnd().split('\n')).toHaveLength(3);
  const { out } = await world.run('incidents', '--resolved');
  expect(out).toMatch(/\n1 +resolved .* db: failed in way 1 \(part of 2\)\n$/);
});

test('without any it says so, and what crashed cannot paint on the terminal', async () => {
  await using empty = await worldWith();
  expect(await empty.run('incidents')).toMatchObject({ code: 0, out: 'no open incidents\n' });
  expect(await empty.run('incidents', '--all')).toMatchObject({ code: 0, out: 'no incidents\n' });
  await using hostile = await worldWith(incident(1, { title: 'x \u001b[2J\u202e\n y' }));
  expect((await hostile.run('incidents')).out).not.toMatch(/[\u001b\u202e]/);
});
