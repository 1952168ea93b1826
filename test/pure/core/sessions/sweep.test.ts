import { expect, test } from 'vitest';
import { judge, labelsOf, tagsOf, UNSTARTED_FOR_MS } from '../../../../src/sessions/rules/sweep.ts';
import { refusal } from '../../../../src/sessions/rules/template.ts';
import { at, sessionRecord, template } from '../../../support/session-record.ts';

const record = sessionRecord({ user: 'a=b,"c', lease: { ...sessionRecord().lease } });
const tags = tagsOf(labelsOf(record, 'me'))!;
const known = (more: Parameters<typeof sessionRecord>[0] = {}, isLive = false) => ({
  record: sessionRecord(more),
  isLive: isLive,
});

test('what is written on a container is read back as it was, and nothing is guessed', () => {
  expect(tags).toMatchObject({ id: record.id, user: 'a=b,"c', template: 'web', expiresAt: record.lease.expiresAt });
  for (const label of ['session', 'user', 'template', 'created', 'expires']) {
    expect(tagsOf({ ...labelsOf(record, 'me'), [`keepwell.${label}`]: '' }), label).toBeNull();
  }
});

test.each([
  ['labels that are incomplete', { tags: null }, null, 0, 'remove'],
  ['an unknown one that runs', {}, null, 0, 'adopt'],
  ['an unknown one that has ended, within its lease', { status: 'exited' }, null, 0, 'adopt'],
  ['an unknown one after its lease', {}, null, 60_000, 'remove'],
  ['an unknown one that is just being made by somebody', { status: 'created' }, null, UNSTARTED_FOR_MS - 1, 'wait'],
  ['one that is being made here', { status: 'created' }, known({ state: 'spawning' }, true), 0, 'keep'],
  ['one whose making was cut off', {}, known({ state: 'spawning' }), 0, 'remove'],
  ['one that lives', {}, known(), 0, 'keep'],
  ['a second container of one that lives', { container: 'c2' }, known(), 0, 'remove'],
  ['one that is being ended here', {}, known({ state: 'ending' }, true), 0, 'keep'],
  ['one whose end was cut off', {}, known({ state: 'ending' }), 0, 'remove'],
  ['one that has ended', {}, known({ state: 'ended' }), 0, 'remove'],
] as const)('%s', (_, found, knownOf, ms, kind) => {
  expect(judge({ container: 'c1', status: 'running', tags, ...found }, knownOf, at(ms)).kind).toBe(kind);
});

test('one that was never started goes when nobody can be making it any more', () => {
  const long = { ...tags, expiresAt: (tags.expiresAt + 1e6) as typeof tags.expiresAt };
  const found = { container: 'c1', status: 'created', tags: long };
  expect(judge(found, null, at(UNSTARTED_FOR_MS)).kind).toBe('remove');
});

test('a place is counted once, by user and template, and all together', () => {
  const place = (id: string, user = 'ann', of = 'web') => ({ id, user, template: of });
  const ask = { user: 'ann', template: template({ perUser: 2 }), max: 3 };
  expect(refusal(ask, [place('1'), place('1'), place('2', 'bob')])).toBeNull();
  expect(refusal(ask, [place('1'), place('2'), place('3', 'bob')])).toEqual({ kind: 'user', sessions: ['1', '2'] });
  expect(refusal(ask, [place('1'), place('2', 'bob'), place('3', 'ann', 'db')])).toEqual({ kind: 'total', count: 3 });
});
