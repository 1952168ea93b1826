import { expect, test } from 'vitest';
import { keysOf } from '../../../../src/cli/top/keys.ts';
import { type Effect, type Model, step } from '../../../../src/cli/top/model.ts';
import { paintLines } from '../../../../src/cli/top/tty.ts';
import { modelOf, NOW, rowOf } from './screens.ts';

const ROWS = ['api', 'database', 'mailer', 'web'].map((name, at) =>
  rowOf({ name, memory_bytes: at, state: name === 'mailer' ? 'gave-up' : 'running' }),
);

/** All keys in order, and what they led to. */
function typed(text: string, model: Model = modelOf(ROWS)): { readonly model: Model; readonly effects: Effect[] } {
  const effects: Effect[] = [];
  let now = model;
  for (const key of keysOf(text)) {
    const next = step(now, { kind: 'key', key }, NOW);
    effects.push(...next.effects);
    now = next.model;
  }
  return { model: now, effects };
}

test.each([
  ['j', 'database'],
  ['jjk', 'database'],
  ['\u001b[B\u001b[B', 'mailer'],
  ['G', 'web'],
  ['\u001b[F\u001b[H', 'api'],
  ['\u001b[6~', 'web'],
  ['jjj\u001b[5~', 'api'],
  ['k', 'api'],
  ['/mai', 'mailer'],
  ['/gave', 'mailer'],
  ['/mai\u007f\u007f\u007fw\r', 'web'],
  ['o', 'api'],
])('the keys %j choose %s', (keys, name) => {
  expect(typed(keys).model.selected).toBe(name);
});

test('worst first brings up what gave up, and Escape leaves a filter', () => {
  expect(typed('og').model.selected).toBe('mailer');
  expect(typed('/mai\u001b').model).toMatchObject({ filter: '', isTyping: false });
});

test('only a yes to what was asked acts', () => {
  const asked = typed('r');
  expect(asked.effects).toEqual([]);
  expect(asked.model.asked?.sentence).toBe('Restart api: ends pid 4711 and starts it again');
  expect(typed('rn').effects).toEqual([]);
  expect(typed('r\r').effects).toEqual([]);
  expect(typed('xq').effects).toEqual([]);
  expect(typed('jxy').effects).toEqual([{ kind: 'act', verb: 'stop', name: 'database' }]);
  expect(typed('sy').effects).toEqual([{ kind: 'act', verb: 'start', name: 'api' }]);
});

test('nothing is asked of a daemon that does not answer', () => {
  const { model } = step(modelOf(ROWS), { kind: 'away' }, NOW);
  expect(typed('r', model).model).toMatchObject({ asked: null, message: expect.stringContaining('nobody is there') });
});

test('an open pane follows the selection, and an answer for another one is dropped', () => {
  const { model, effects } = typed('lj');
  expect(effects).toEqual([
    { kind: 'read', of: 'logs', name: 'api' },
    { kind: 'read', of: 'logs', name: 'database' },
  ]);
  const late = step(model, { kind: 'pane', of: 'logs', name: 'api', lines: ['late'] }, NOW).model;
  expect(late.pane?.lines).toBeNull();
  const right = step(model, { kind: 'pane', of: 'logs', name: 'database', lines: ['here'] }, NOW).model;
  expect(right.pane?.lines).toEqual(['here']);
  expect(typed('l', right).model.pane).toBeNull();
});

test('a component that is gone is not selected any more, and an answer ends being away', () => {
  const away = step(typed('G').model, { kind: 'away' }, NOW).model;
  const view = { ...away.view!, components: ROWS.slice(0, 2) };
  const { model } = step(away, { kind: 'view', view, offline: null }, NOW);
  expect(model).toMatchObject({ selected: 'api', isAway: false });
});

test('q and Ctrl C quit, also from the help; Ctrl Z suspends', () => {
  for (const keys of ['q', '\u0003', '?q', '/x\u0003', 'r\u0003'])
    expect(typed(keys).effects.at(-1)).toEqual({ kind: 'quit' });
  expect(typed('\u001a').effects).toEqual([{ kind: 'suspend' }]);
});

test('only lines that changed are written, together, and nothing when none did', () => {
  expect(paintLines(['a', 'b', 'c'], ['a', 'b', 'c'])).toBe('');
  expect(paintLines(['a', 'b', 'c'], ['a', 'x', 'c'])).toBe('\u001b[?2026h\u001b[2;1H\u001b[Kx\u001b[0m\u001b[?2026l');
  expect(paintLines(null, ['a'])).toContain('\u001b[2J\u001b[1;1H\u001b[Ka');
  expect(paintLines(['a', 'b'], ['a'])).toContain('\u001b[2;1H\u001b[K');
});
