import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { slug } from '../../../src/incidents/tickets/kinds/local.ts';
import type { TicketsSpec } from '../../../src/incidents/tickets/ports.ts';
import { afterRecovery } from '../../../src/incidents/tickets/rules/notes.ts';
import { ticketFor } from '../../../src/incidents/tickets/rules/policy.ts';
import { tempDir } from '../../support/temp-dir.ts';
import {
  crashSample,
  HOUR,
  incidentSample,
  MINUTE,
  START,
  settings,
  ticketSample,
  wall,
} from '../../support/ticket-samples.ts';
import { waitFor } from '../../support/wait-for.ts';
import { TicketsWorld } from './tickets-world.ts';

const specFor = (dir: string): TicketsSpec =>
  settings({ trackers: [{ name: 'local', kind: 'local', target: dir, dir }] });

const NAME = 'BUG-003-worker-importerror-cannot-import-name-skillnames.md';

function again(world: TicketsWorld, spec: TicketsSpec, count: number, now: number): void {
  const change = ticketFor({
    incident: incidentSample(count, now),
    evidence: { kind: 'crash', crash: crashSample() },
    existing: world.book.find(3),
    ...{ settings: spec, now: wall(now), nextNumber: 4, key: 'unused' },
  })!;
  world.book.save(change.ticket, change.told);
  world.service.filed([change.ticket]);
}

describe('a file for each ticket', () => {
  test('says everything, and its directory is made', async () => {
    using temp = tempDir();
    const dir = temp.at('docs/bugs');
    await using world = new TicketsWorld(specFor(dir), [ticketSample(specFor(dir))]);
    await world.delivered('local');
    expect(readdirSync(dir)).toEqual([NAME]);
    const text = readFileSync(join(dir, NAME), 'utf8');
    for (const words of [
      'BUG-003',
      'ImportError',
      'SkillNames',
      'app/names.py',
      'keepwell start worker',
      '| Count | 3 |',
      '| State | open |',
    ]) {
      expect(text).toContain(words);
    }
    expect(world.standing('local')).toMatchObject({ id: NAME, address: join(dir, NAME) });
  });

  test('keeps state and count in step, and notes what happened', async () => {
    using temp = tempDir();
    const spec = specFor(temp.path);
    const read = () => readFileSync(temp.at(NAME), 'utf8');
    await using world = new TicketsWorld(spec, [ticketSample(spec)]);
    await world.delivered('local');
    again(world, spec, 4, START + MINUTE);
    await world.delivered('local');
    expect(read()).toContain('| Count | 4 |');
    expect(read()).not.toContain('times so far');
    again(world, spec, 9, START + HOUR);
    await world.delivered('local');
    expect(read()).toContain('9 times so far');
    const well = afterRecovery(world.book.find(3)!, spec, wall(START + 2 * HOUR))!;
    world.book.save(well.ticket, well.told);
    world.service.filed([well.ticket]);
    await world.delivered('local');
    expect(read()).toContain('Recovered');
    world.service.close(3);
    await world.delivered('local');
    expect(read()).toContain('| State | closed since');
    world.service.reopen(3);
    await world.delivered('local');
    expect(read()).toContain('| State | open |');
    expect(read().match(/^- 2026/gm)).toHaveLength(4);
    expect(readdirSync(temp.path)).toEqual([NAME]);
  });

  test('what people write below is kept', async () => {
    using temp = tempDir();
    const spec = specFor(temp.path);
    await using world = new TicketsWorld(spec, [ticketSample(spec)]);
    await world.delivered('local');
    writeFileSync(temp.at(NAME), `${readFileSync(temp.at(NAME), 'utf8')}\nI think it is the cache. @me\n`);
    again(world, spec, 9, START + HOUR);
    await world.delivered('local');
    const text = readFileSync(temp.at(NAME), 'utf8');
    expect(text).toContain('I think it is the cache. @me');
    expect(text).toContain('| Count | 9 |');
    expect(readdirSync(temp.path)).toEqual([NAME]);
  });

  test.each<readonly [what: string, edit: (text: string) => string]>([
    ['a changed line', (text) => text.replace('ImportError', 'my own words about ImportError')],
    ['a line for the end taken away', (text) => text.replace(/<!-- end of what.*/, '')],
    [
      'a forged line for the end',
      (text) => text.replace('## What happened', `<!-- end of what Keepwell writes ${'0'.repeat(64)} -->\nmine`),
    ],
  ])('%s is kept under another name before it is written over, and that is said', async (_, edit) => {
    using temp = tempDir();
    const spec = specFor(temp.path);
    await using world = new TicketsWorld(spec, [ticketSample(spec)]);
    await world.delivered('local');
    const edited = edit(readFileSync(temp.at(NAME), 'utf8'));
    writeFileSync(temp.at(NAME), edited);
    again(world, spec, 9, START + HOUR);
    await world.delivered('local');
    const [copy] = readdirSync(temp.path).filter((name) => name !== NAME);
    expect(readFileSync(temp.at(copy!), 'utf8')).toBe(edited);
    expect(readFileSync(temp.at(NAME), 'utf8')).toContain('| Count | 9 |');
    expect(world.book.told.at(-1)).toMatchObject({
      type: 'ticket.delivered',
      data: { note: expect.stringContaining('edited') },
    });
    again(world, spec, 10, START + 3 * HOUR);
    await world.delivered('local');
    expect(readdirSync(temp.path)).toHaveLength(2);
  });

  test('one that somebody deleted stays deleted until the ticket is reopened', async () => {
    using temp = tempDir();
    const spec = specFor(temp.path);
    await using world = new TicketsWorld(spec, [ticketSample(spec)]);
    await world.delivered('local');
    rmSync(temp.at(NAME));
    again(world, spec, 9, START + HOUR);
    await world.delivered('local');
    expect(readdirSync(temp.path)).toEqual([]);
    expect(world.logged.join()).toContain('was deleted');
    world.service.close(3);
    world.service.reopen(3);
    await world.delivered('local');
    expect(readdirSync(temp.path)).toEqual([NAME]);
  });

  test('one that somebody renamed is found again', async () => {
    using temp = tempDir();
    const spec = specFor(temp.path);
    await using world = new TicketsWorld(spec, [ticketSample(spec)]);
    await world.delivered('local');
    renameSync(temp.at(NAME), temp.at('BUG-003-wontfix.md'));
    again(world, spec, 9, START + HOUR);
    await world.delivered('local');
    expect(readdirSync(temp.path)).toEqual(['BUG-003-wontfix.md']);
    expect(readFileSync(temp.at('BUG-003-wontfix.md'), 'utf8')).toContain('| Count | 9 |');
  });

  test('files and links of others are left alone', async () => {
    using temp = tempDir();
    using elsewhere = tempDir();
    writeFileSync(temp.at(NAME), 'of an older history');
    writeFileSync(elsewhere.at('target'), 'precious');
    symlinkSync(elsewhere.at('target'), temp.at(NAME.replace('.md', '-2.md')));
    mkdirSync(temp.at(NAME.replace('.md', '-3.md')));
    const spec = specFor(temp.path);
    await using world = new TicketsWorld(spec, [ticketSample(spec)]);
    await world.delivered('local');
    expect(world.standing('local').id).toBe(NAME.replace('.md', '-4.md'));
    expect(readFileSync(temp.at(NAME), 'utf8')).toBe('of an older history');
    expect(readFileSync(elsewhere.at('target'), 'utf8')).toBe('precious');
  });

  test('written but not noted before a kill, it is found and not written twice', async () => {
    using temp = tempDir();
    const spec = specFor(temp.path);
    const ticket = ticketSample(spec);
    await using first = new TicketsWorld(spec, [ticket]);
    await first.delivered('local');
    await using second = new TicketsWorld(spec, [ticket]);
    await second.delivered('local');
    expect(readdirSync(temp.path)).toEqual([NAME]);
  });

  test('where nothing can be written, that is said and it stops', async () => {
    using temp = tempDir();
    writeFileSync(temp.at('tickets'), 'a file');
    const spec = specFor(temp.at('tickets'));
    await using world = new TicketsWorld(spec, [ticketSample(spec)]);
    await waitFor('it to stop', () => world.standing('local').stopped);
    expect(world.standing('local').error).toContain('directory that can be written to');
  });
});

test.each([
  ['worker: ImportError: cannot import name', 'worker-importerror-cannot-import-name'],
  ['../../etc/passwd', 'etc-passwd'],
  ['Überlänge é', 'uberlange-e'],
  ['日本語', 'ticket'],
  ['x'.repeat(500), 'x'.repeat(48)],
  ['', 'ticket'],
])('the title %j makes a file name of harmless characters', (title, name) => {
  expect(slug(title)).toBe(name);
});
