import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { noPaint } from '../../../../src/cli/print/colour.ts';
import { displayWidth } from '../../../../src/cli/print/table.ts';
import { type Model, step } from '../../../../src/cli/top/model.ts';
import { render } from '../../../../src/cli/top/render.ts';
import { modelOf, NOW, rowOf, SHOP, SHOP_ATTENTION } from './screens.ts';

const happened = (model: Model): Model =>
  step(
    model,
    {
      kind: 'events',
      events: ['restart in 7.7 s (4 of 10 in 10 min)', '\u001b]0;owned\u0007restart in 12 s'].map((decision, at) => ({
        ...{ seq: at, at: '2026-01-02T11:59:00Z', subject: { kind: 'component' as const, name: 'mailer' } },
        ...{ type: 'component.backing-off', run_id: null, data: { decision } },
      })),
    },
    NOW,
  ).model;

const SIZES = [
  [80, 24],
  [120, 40],
  [200, 50],
  [40, 10],
  [20, 5],
  [5, 2],
  [1, 1],
] as const;

test.each(SIZES.slice(0, 5))('the shop at %i × %i', async (columns, rows) => {
  const model = happened(modelOf(SHOP, { columns, rows, attention: SHOP_ATTENTION }));
  const text = render(model, noPaint)
    .join('\n')
    .replace(/\d\d:\d\d:00/g, 'hh:mm:ss');
  await expect(`${text}\n`).toMatchFileSnapshot(`./screens/shop-${columns}x${rows}.txt`);
});

test('two hundred components: the chosen one is in sight, and it is said where', async () => {
  const many = Array.from({ length: 200 }, (_, at) => rowOf({ name: `worker-${at}`, started_at: null }));
  const { model } = step({ ...modelOf(many), selected: 'worker-150' }, { kind: 'key', key: 'j' }, NOW);
  const text = render(model, noPaint).join('\n');
  expect(text).toContain('>● worker-151');
  await expect(`${text}\n`).toMatchFileSnapshot('./screens/many-80x24.txt');
});

const MODES: readonly (readonly [string, (model: Model) => Model])[] = [
  ['the list', (model) => model],
  ['the help', (model) => ({ ...model, hasHelp: true })],
  [
    'a pane',
    (model) => ({
      ...model,
      pane: { kind: 'why', name: 'api', lines: Array(60).fill('日本\t\u001b[31mx'), scroll: 9 },
    }),
  ],
  ['a question', (model) => ({ ...model, asked: { verb: 'stop', name: 'api', sentence: 'Stop api: '.repeat(30) } })],
  ['typing', (model) => ({ ...model, isTyping: true, filter: 'a'.repeat(300) })],
  ['away', (model) => ({ ...model, isAway: true, now: NOW + 65_000 })],
  ['offline', (model) => ({ ...model, offline: 'the daemon is not running' })],
  ['nothing yet', (model) => ({ ...model, view: null })],
];

test.each(MODES)('%s never leaves the screen, whatever its size, with colours and without', (_name, change) => {
  for (const paint of [noPaint, picocolors.createColors(true)]) {
    for (const [columns, rows] of SIZES) {
      const model = change(happened(modelOf(SHOP, { columns, rows, attention: SHOP_ATTENTION })));
      const lines = render(model, paint);
      expect(lines).toHaveLength(rows);
      for (const line of lines) {
        const shown = line.replace(/\u001b\[[0-9;]*m/g, '');
        expect(displayWidth(shown)).toBeLessThanOrEqual(columns);
        expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
      }
    }
  }
});

test('while the daemon is away it says how old the data is, and times stand still', () => {
  const model = { ...modelOf(SHOP), isAway: true };
  const [then, later] = [model, { ...model, now: NOW + 42_000 }].map((each) => render(each, noPaint));
  expect(later![0]).toContain('reconnecting, data is 42 s old');
  expect(later!.slice(1)).toEqual(then!.slice(1));
});
