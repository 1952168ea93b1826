import { truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TimeEntry } from '../../../src/logs/format.ts';
import { logTail, readTail } from '../../../src/logs/log-tail.ts';
import { loggedNames } from '../../../src/logs/names.ts';
import { listParts } from '../../../src/logs/read/space.ts';
import { LogWorld } from './log-world.ts';

const run = (position: number, id: string): TimeEntry => ({ kind: 'run', position, wallMs: 1, run: id });
const tail = (world: LogWorld, secrets: readonly string[] = []) => logTail(world.dir.path, 'api', secrets);

test('the last fifty lines, without secrets, long ones cut', () => {
  using world = new LogWorld();
  for (let n = 0; n < 60; n++) world.write(`line ${n} s3cr3t-value\n`);
  world.write(`${'x'.repeat(3_000)}\n`);
  const lines = tail(world, ['s3cr3t-value']);
  expect(lines).toHaveLength(50);
  expect(lines[0]).toBe('line 11 [redacted]');
  expect(lines.at(-1)).toMatch(/^x{2000} … 1000 characters cut$/);
});

test('only those of the last run, also when the one before ended within a line', () => {
  using world = new LogWorld();
  world.write('old\nold half');
  world.facts([run(0, 'r1'), run(12, 'r2')]);
  expect(tail(world)).toEqual([]);
  world.write('new\n');
  expect(tail(world)).toEqual(['new']);
});

test('those of a run that is over, although the next one writes already, and the log was cut since', () => {
  using world = new LogWorld();
  const of = (id: string, end: number) => readTail(world.dir.path, 'api', [], { output: { run: id, end } }).lines;
  world.facts([{ kind: 'base', position: 0 }, run(0, 'r1'), run(4, 'r2'), run(13, 'r3')]);
  world.write('one\ntwo\nthreefour\n');
  world.facts([run(18, 'r4')]);
  expect(of('r1', 4)).toEqual(['one']);
  expect(of('r2', 13)).toEqual(['two', 'three']);
  expect(of('r3', 18)).toEqual(['four']);
  world.part(0, 'one\ntwo\nthreefo');
  truncateSync(world.path(), 0);
  world.write('ur\n');
  world.facts([{ kind: 'base', position: 15 }]);
  expect(of('r2', 13)).toEqual(['two', 'three']);
  expect(of('r3', 18)).toEqual(['four']);
});

test.each(['plain', 'gz'] as const)('right after a rotation, the rest comes from the %s part', (form) => {
  using world = new LogWorld();
  const head = Array.from({ length: 1_000 }, (_, n) => `head ${n}`);
  const text = `${head.join('\n')}\nto`;
  world.part(0, text, { form });
  world.write('rn\nlast\n');
  world.facts([{ kind: 'base', position: text.length }, run(0, 'r1')]);
  expect(tail(world)).toEqual([...head.slice(-48), 'torn', 'last']);
  world.facts([run(text.length - 'head 999\nto'.length, 'r2')]);
  expect(tail(world)).toEqual(['head 999', 'torn', 'last']);
});

test('in the middle of a rotation, before and after the cut', () => {
  using world = new LogWorld();
  world.facts([{ kind: 'base', position: 0 }, run(0, 'r1')]);
  world.write('one\ntwo\nthree\n');
  world.part(0, 'one\ntwo\n');
  expect(tail(world)).toEqual(['one', 'two', 'three']);
  truncateSync(world.path(), 0);
  world.write('three\n');
  expect(tail(world)).toEqual(['one', 'two', 'three']);
});

test('a log that was cut back by hand, or is not there', () => {
  using world = new LogWorld();
  expect(tail(world)).toEqual([]);
  world.write('new\n');
  world.facts([{ kind: 'base', position: 0 }, run(5_000, 'r1')]);
  expect(tail(world)).toEqual(['new']);
});

test('a character that is cut in two at the border is left out with its line', () => {
  using world = new LogWorld();
  world.write(`${'é'.repeat(400_000)}\nlast\n`);
  expect(tail(world)).toEqual(['last']);
});

test('of a log that cannot be read it is not said that nothing was written', () => {
  using world = new LogWorld();
  const name = 'x'.repeat(300); // ENAMETOOLONG, which is not "no such file"
  expect(logTail(world.dir.path, name, [])).toEqual([
    expect.stringMatching(/^\(its log could not be read: ENAMETOOLONG/),
  ]);
  expect(() => listParts('x'.repeat(300), 'api')).toThrow('ENAMETOOLONG');
  expect(() => loggedNames('x'.repeat(300))).toThrow('ENAMETOOLONG');
  expect(loggedNames(world.dir.at('nowhere'))).toEqual([]);
});
