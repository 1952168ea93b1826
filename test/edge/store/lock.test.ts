import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { takeLock } from '../../../src/base/lock.ts';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { canMount, smallDisk } from './mounts.ts';
import { type Program, runNode } from './program.ts';

const CONTENDERS = 6;
const RACES = 100;
const JUNK = 'this is not a lock\n'.repeat(50);

let contender: Bundle;
beforeAll(async () => {
  contender = await bundle('test/fixtures/store/contender.ts');
});
afterAll(() => contender.remove());

/** Programs that can be told to take the lock, and what each of them answered last. */
class Field {
  readonly programs: readonly Program[];
  readonly #heard: number[];

  constructor(path: string, count: number) {
    this.programs = Array.from({ length: count }, () => runNode(contender.path, path));
    this.#heard = this.programs.map(() => 1);
  }

  async ready(): Promise<this> {
    await Promise.all(this.programs.map((program) => program.said('ready')));
    return this;
  }

  async ask(who: number, command: string): Promise<string> {
    this.programs[who]!.tell(command);
    return waitFor(`an answer to ${command}`, () => this.programs[who]!.lines[this.#heard[who]!]).then((answer) => {
      this.#heard[who]! += 1;
      return answer;
    });
  }

  /** All at once. Gives back who holds the lock. */
  async race(): Promise<readonly number[]> {
    const answers = await Promise.all(this.programs.map((_, who) => this.ask(who, 'take')));
    expect(answers.filter((answer) => answer !== 'held' && answer !== 'null')).toEqual([]);
    return answers.flatMap((answer, who) => (answer === 'held' ? [who] : []));
  }

  [Symbol.dispose](): void {
    for (const program of this.programs) program[Symbol.dispose]();
  }
}

test(`${CONTENDERS} contenders, ${RACES} races: exactly one holder each time`, async () => {
  using dir = tempDir();
  using field = await new Field(dir.at('lock.db'), CONTENDERS).ready();
  for (let race = 0; race < RACES; race += 1) {
    const holders = await field.race();
    expect(holders).toHaveLength(1);
    await field.ask(holders[0]!, 'release');
  }
  expect(statSync(dir.at('lock.db'))).toMatchObject({ size: 0 });
  expect(statSync(dir.at('lock.db')).mode & 0o777).toBe(0o600);
});

test('a lock file full of junk locks nobody out, and nobody gets in twice', async () => {
  using dir = tempDir();
  using field = await new Field(dir.at('lock.db'), CONTENDERS).ready();
  for (let race = 0; race < 30; race += 1) {
    writeFileSync(dir.at('lock.db'), JUNK);
    const holders = await field.race();
    expect(holders).toHaveLength(1);
    await field.ask(holders[0]!, 'release');
  }
});

describe('a held lock', () => {
  let dir: ReturnType<typeof tempDir>;
  let field: Field;
  beforeEach(async () => {
    dir = tempDir();
    field = await new Field(dir.at('lock.db'), 2).ready();
    expect(await field.ask(0, 'take')).toBe('held');
    return () => {
      field[Symbol.dispose]();
      dir[Symbol.dispose]();
    };
  });

  test('is free again after kill -9 of its holder', async () => {
    expect(await field.ask(1, 'take')).toBe('null');
    field.programs[0]!.child.kill('SIGKILL');
    await field.programs[0]!.ended;
    expect(await field.ask(1, 'take')).toBe('held');
  });

  test('is free again after it was released', async () => {
    await field.ask(0, 'release');
    expect(await field.ask(1, 'take')).toBe('held');
  });

  test('stays held when the holder forgets about it and collects its garbage', async () => {
    await field.ask(0, 'collect');
    expect(await field.ask(1, 'take')).toBe('null');
  });

  test('stays held when somebody writes junk into the file', async () => {
    appendFileSync(dir.at('lock.db'), JUNK);
    expect(await field.ask(1, 'take')).toBe('null');
    expect(readFileSync(dir.at('lock.db'), 'utf8')).toBe(JUNK);
    field.programs[0]!.child.kill('SIGKILL');
    await field.programs[0]!.ended;
    expect(await field.ask(1, 'take')).toBe('held');
  });
});

test('in one process too there is one holder, and it can tell when the file was taken from it', async () => {
  using dir = tempDir();
  const lock = await takeLock(dir.at('lock.db'));
  expect(await takeLock(dir.at('lock.db'))).toBeNull();
  expect(lock?.isInPlace()).toBe(true);
  rmSync(dir.at('lock.db'));
  expect(lock?.isInPlace()).toBe(false);
  lock?.release();
  expect(() => lock?.release()).not.toThrow();
});

test('a real database in the place of the lock is used as a lock and not changed', async () => {
  using dir = tempDir();
  const db = (await loadSqlite()).open(dir.at('lock.db'), 'read-write');
  db.exec('CREATE TABLE precious (thing); INSERT INTO precious VALUES (1)');
  db.close();
  const before = readFileSync(dir.at('lock.db'));
  const lock = await takeLock(dir.at('lock.db'));
  expect(lock).not.toBeNull();
  expect(await takeLock(dir.at('lock.db'))).toBeNull();
  lock?.release();
  expect(readFileSync(dir.at('lock.db')).equals(before)).toBe(true);
});

test('a lock that cannot be used at all is an error that says why, not "somebody else has it"', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('lock.db'));
  await expect(takeLock(dir.at('lock.db'))).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await expect(takeLock(dir.at('missing/lock.db'))).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
});

test.runIf(canMount)('a full disk does not keep a daemon from taking the lock', async () => {
  using disk = smallDisk(64);
  disk.fill();
  const lock = await takeLock(disk.at('lock.db'));
  expect(lock).not.toBeNull();
  lock?.release();
});
