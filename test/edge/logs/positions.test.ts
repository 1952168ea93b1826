import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LogWorld, readAll } from './log-world.ts';

const TEXT = 'first\nzweite Zeile: äöü\n\n日本語 💥 end\nlast without a break';
const LINES = TEXT.split('\n');
const BYTES = Buffer.from(TEXT);

describe.each(['plain', 'gz'] as const)('with a %s part', (form) => {
  test('lines are whole wherever the border of a part lies', async () => {
    for (let border = 1; border < BYTES.length; border++) {
      using world = new LogWorld();
      world.part(0, BYTES.subarray(0, border), { form });
      world.write(BYTES.subarray(border));
      world.base(border);
      const lines = await world.read();
      expect(lines.map(({ line }) => line)).toEqual(LINES);
      expect(lines.map(({ offset }) => offset)).toEqual(
        LINES.map((_, at) =>
          Buffer.byteLength(
            LINES.slice(0, at)
              .map((line) => `${line}\n`)
              .join(''),
          ),
        ),
      );
    }
  });

  test('the last lines are found wherever the border lies', async () => {
    for (let border = 1; border < BYTES.length; border++) {
      using world = new LogWorld();
      world.part(0, BYTES.subarray(0, border), { form });
      world.write(BYTES.subarray(border));
      world.base(border);
      for (let count = 0; count <= LINES.length + 1; count++)
        expect(await world.texts({ tail: count }), `${border} ${count}`).toEqual(
          count === 0 ? [] : LINES.slice(-count),
        );
    }
  });

  test('three parts and the log itself are one log', async () => {
    using world = new LogWorld();
    const cuts = [0, 7, 12, 30, BYTES.length];
    for (const [at, from] of cuts.slice(0, 3).entries())
      world.part(from, BYTES.subarray(from, cuts[at + 1]), { form: at === 1 ? 'plain' : form });
    world.write(BYTES.subarray(30));
    world.base(30);
    expect(await world.texts()).toEqual(LINES);
    for (let after = 0; after < LINES.length; after++) {
      const { offset } = (await world.read())[after]!;
      expect(await world.texts({ after: { api: offset } })).toEqual(
        after === LINES.length - 1 ? LINES.slice(-1) : LINES.slice(after + 1),
      );
    }
  });
});

test('what is missing between parts is counted, and a line that was torn is not mended', async () => {
  using world = new LogWorld();
  world.part(0, 'one\ntw');
  world.part(100, 'ree\nfour\n');
  world.write('five\n');
  world.base(109);
  const lines = await world.read();
  expect(lines.map(({ line, lost_bytes }) => [line, lost_bytes])).toEqual([
    ['one', 0],
    ['tw', 0],
    ['ree', 94],
    ['four', 0],
    ['five', 0],
  ]);
  expect(world.notes).toEqual(['api: 94 bytes are no longer kept']);
  for (let count = 1; count <= 5; count++)
    expect(await world.texts({ tail: count })).toEqual(['one', 'tw', 'ree', 'four', 'five'].slice(-count));
});

test('a part that is damaged ends where the damage begins', async () => {
  using world = new LogWorld();
  const text = Array.from({ length: 20_000 }, (_, at) => `line ${at * 7919}\n`).join('');
  const path = world.part(0, text, { form: 'gz' });
  const bytes = readFileSync(path);
  bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 200);
  writeFileSync(path, bytes);
  world.write('after\n');
  world.base(text.length);
  const lines = await world.read();
  expect(lines[0]?.line).toBe('line 0');
  expect(lines.at(-1)).toMatchObject({ line: 'after', offset: text.length });
  expect(lines.at(-1)!.lost_bytes).toBeGreaterThan(0);
});

describe('a rotation that was left half done', () => {
  const head = Array.from({ length: 500 }, (_, at) => `head ${at}`);
  const tail = Array.from({ length: 5 }, (_, at) => `tail ${at}`);
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
  const from = 1000;

  test.each(['plain', 'gz'] as const)('before the head was cut off (%s)', async (form) => {
    using world = new LogWorld();
    world.facts([{ kind: 'base', position: from }]);
    world.part(from, text(head), { form });
    world.write(text([...head, ...tail]));
    expect(await world.texts()).toEqual([...head, ...tail]);
    expect(await world.texts({ tail: 7 })).toEqual([...head.slice(-2), ...tail]);
    expect((await world.read({ tail: 1 }))[0]?.offset).toBe(from + text([...head, ...tail.slice(0, -1)]).length);
  });

  test.each(['plain', 'gz'] as const)('after the head was cut off (%s)', async (form) => {
    using world = new LogWorld();
    world.facts([{ kind: 'base', position: from }]);
    world.part(from, text(head), { form });
    world.write(text(tail));
    expect(await world.texts()).toEqual([...head, ...tail]);
    expect(await world.texts({ tail: 7 })).toEqual([...head.slice(-2), ...tail]);
    expect((await world.read({ tail: 1 }))[0]?.offset).toBe(from + text([...head, ...tail.slice(0, -1)]).length);
  });

  test('a head that looks the same is known to be gone by how far the log had reached', async () => {
    using world = new LogWorld();
    const same = 'same\n'.repeat(3000);
    world.facts([
      { kind: 'base', position: 0 },
      { kind: 'at', position: 2 * same.length, wallMs: 5 },
    ]);
    world.part(0, same);
    world.write(same);
    expect(await world.texts()).toHaveLength(6000);
  });

  test('what was only marked and dropped is missing', async () => {
    using world = new LogWorld();
    const all = text(head);
    world.facts([
      { kind: 'base', position: 0 },
      { kind: 'at', position: all.length + 5, wallMs: 5 },
    ]);
    world.part(0, all.slice(0, 70));
    world.part(700, all.slice(700));
    world.write('tail\n');
    const lines = await world.read();
    expect(lines.reduce((sum, { lost_bytes }) => sum + lost_bytes, 0)).toBe(630);
    expect(lines.at(-1)).toMatchObject({ line: 'tail', offset: all.length });
  });
});

test('facts and files that do not fit together at all still come to an end', async () => {
  using world = new LogWorld();
  world.facts([
    { kind: 'base', position: 0 },
    { kind: 'at', position: 1000, wallMs: 5 },
  ]);
  world.part(0, 'part\n');
  world.write('log\n');
  expect((await world.texts()).at(-1)).toBe('log');
  expect(await world.texts({ tail: 1 })).toEqual(['log']);
});

describe('who follows', () => {
  test('goes on when the log is cut back by hand, before and after the facts say so', async () => {
    using world = new LogWorld();
    world.base(0);
    world.write('one\ntwo\n');
    await using cursor = world.open();
    expect((await readAll(cursor)).map(({ line }) => line)).toEqual(['one', 'two']);
    truncateSync(world.path(), 0);
    world.write('a\n');
    const [a] = await readAll(cursor);
    expect(a).toMatchObject({ line: 'a', offset: 8 });
    expect(world.notes).toEqual(['api: its log was truncated; going on from its beginning']);
    world.base(6); // somebody who had seen less of it
    world.write('b\n');
    expect((await readAll(cursor)).map(({ line, offset }) => [line, offset])).toEqual([['b', 8]]);
    world.write('c\n');
    expect((await readAll(cursor)).map(({ line, offset }) => [line, offset])).toEqual([['c', 10]]);
  });

  test('reads a replaced file to its end first', async () => {
    using world = new LogWorld();
    world.base(0);
    world.write('one\n');
    await using cursor = world.open();
    await readAll(cursor);
    world.write('two\nrest');
    renameSync(world.path(), `${world.path()}.old`);
    writeFileSync(world.path(), 'new\n');
    expect((await readAll(cursor)).map(({ line }) => line)).toEqual(['two', 'rest', 'new']);
    expect(world.notes).toEqual(['api: its log was replaced; going on from its beginning']);
    world.base(12);
    world.write('newer\n');
    expect((await readAll(cursor)).map(({ line }) => line)).toEqual(['newer']);
  });

  test('goes on with a removed file that is still written to, and with the next one', async () => {
    using world = new LogWorld();
    world.write('one\n');
    await using cursor = world.open({ components: ['api'] });
    await readAll(cursor);
    const fd = openSync(world.path(), 'a');
    rmSync(world.path());
    writeSync(fd, 'still here\n');
    closeSync(fd);
    expect((await readAll(cursor)).map(({ line }) => line)).toEqual(['still here']);
    world.write('again\n');
    expect((await readAll(cursor)).map(({ line }) => line)).toEqual(['again']);
  });

  test('is told what went while nobody looked', async () => {
    using world = new LogWorld();
    world.base(0);
    world.write('one\n');
    await using cursor = world.open();
    await readAll(cursor);
    world.base(50);
    truncateSync(world.path(), 0);
    appendFileSync(world.path(), 'after\n');
    expect((await readAll(cursor)).map(({ line, lost_bytes, offset }) => [line, lost_bytes, offset])).toEqual([
      ['after', 46, 50],
    ]);
  });
});
