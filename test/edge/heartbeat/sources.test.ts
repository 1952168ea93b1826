import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fileSource, logSource } from '../../../src/probes/heartbeat/sources.ts';
import type { ProbeTarget } from '../../../src/supervision/ports/prober.ts';
import { FakeProber } from '../../support/fake-prober.ts';
import { tempDir } from '../../support/temp-dir.ts';

describe('a file', () => {
  test('that is not there is silence, each writing is a beat, and the age of the first is told', async () => {
    using dir = tempDir();
    const path = dir.at('beat');
    const source = fileSource(path, null, null);
    expect(await source.listen()).toEqual({ kind: 'silence', mark: null, note: 'there is no beat' });
    writeFileSync(path, 'x');
    const hourAgo = Date.now() / 1_000 - 3_600;
    utimesSync(path, hourAgo, hourAgo);
    const first = await source.listen();
    expect(first).toMatchObject({ kind: 'beat' });
    expect(Math.round((first as { ageMs: number }).ageMs / 60_000)).toBe(60);
    expect(await source.listen()).toMatchObject({ kind: 'silence', note: null });
    utimesSync(path, hourAgo + 1, hourAgo + 1);
    expect(await source.listen()).toMatchObject({ kind: 'beat' });
  });

  test('is known to the next daemon by its mark', async () => {
    using dir = tempDir();
    const path = dir.at('beat');
    writeFileSync(path, 'x');
    const { mark } = (await fileSource(path, null, null).listen()) as { mark: string };
    expect(await fileSource(path, null, mark).listen()).toEqual({ kind: 'silence', mark, note: null });
  });

  test('that cannot be looked at makes us deaf', async () => {
    using dir = tempDir();
    expect(await fileSource(dir.path, 'at', null).listen()).toMatchObject({ kind: 'deaf' });
  });
});

describe('a field of a JSON document', () => {
  test.each([
    ['seconds', { last_update: 1760961646.2 }, 1_760_961_646_200],
    ['milliseconds', { last_update: 1_760_961_646_200 }, 1_760_961_646_200],
    ['ISO text', { last_update: '2025-10-20T12:00:46.200Z' }, 1_760_961_646_200],
    ['a name with a dot', { 'last_update.at': 1, last_update: 1760961646.2 }, 1_760_961_646_200],
  ])('in %s', async (_form, document, at) => {
    using dir = tempDir();
    writeFileSync(dir.at('s.json'), JSON.stringify(document));
    const heard = await fileSource(dir.at('s.json'), 'last_update', null).listen();
    expect(Math.abs(Date.now() - (heard as { ageMs: number }).ageMs - at)).toBeLessThan(1_000);
  });

  test('a beat is a new value, not a new writing', async () => {
    using dir = tempDir();
    const write = (last_update: number) => writeFileSync(dir.at('s.json'), JSON.stringify({ loop: { last_update } }));
    const source = fileSource(dir.at('s.json'), 'loop.last_update', null);
    write(1_760_961_646);
    expect(await source.listen()).toMatchObject({ kind: 'beat' });
    write(1_760_961_646);
    expect(await source.listen()).toMatchObject({ kind: 'silence' });
    write(1_760_961_647);
    expect(await source.listen()).toMatchObject({ kind: 'beat' });
  });

  test.each([
    ['s.json has no field last_update', '{"status": "working"}'],
    ['s.json has no field last_update', '[]'],
    ['s.json is no JSON document', '{"last_upd'],
    ['s.json is longer than 1 MiB', JSON.stringify({ last_update: 1, rest: 'x'.repeat(2 ** 20) })],
    ['the field last_update of s.json is no time', '{"last_update": "soon"}'],
  ])('without a time in it is silence, and says why: %s', async (note, text) => {
    using dir = tempDir();
    writeFileSync(dir.at('s.json'), text);
    expect(await fileSource(dir.at('s.json'), 'last_update', null).listen()).toMatchObject({ kind: 'silence', note });
  });
});

describe('a log', () => {
  const target = { logFrom: 100 } as ProbeTarget;
  function listening(pattern: string | null, mark: string | null = null) {
    const dir = tempDir();
    const path = dir.at('api.log');
    writeFileSync(path, '');
    const prober = new FakeProber();
    const log = { end: 100 };
    const source = logSource({ target, pattern, mark }, { prober, logPath: () => path, logEnd: () => log.end });
    return { source, log, path, prober, [Symbol.dispose]: () => dir[Symbol.dispose]() };
  }

  test('everything new is a beat', async () => {
    using world = listening(null);
    expect(await world.source.listen()).toEqual({ kind: 'silence', mark: '100', note: null });
    world.log.end = 120;
    expect(await world.source.listen()).toMatchObject({ kind: 'beat', mark: '120' });
    expect(await world.source.listen()).toMatchObject({ kind: 'silence' });
  });

  test('what comes only while a probe asks is an echo, what comes before and after it is a beat', async () => {
    using world = listening(null);
    world.source.asked?.(true);
    world.log.end = 110;
    expect(await world.source.listen()).toMatchObject({ kind: 'echo', mark: '110' });
    world.log.end = 120;
    world.source.asked?.(false);
    expect(await world.source.listen()).toMatchObject({ kind: 'echo', mark: '120' });
    expect(await world.source.listen()).toMatchObject({ kind: 'silence', mark: '120' });
    world.log.end = 130;
    world.source.asked?.(true);
    world.log.end = 140;
    expect(await world.source.listen()).toMatchObject({ kind: 'beat', mark: '140' });
    world.source.asked?.(false);
    world.log.end = 150;
    expect(await world.source.listen()).toMatchObject({ kind: 'beat', mark: '150' });
  });

  test('with a pattern, only lines that fit', async () => {
    using world = listening('done', '90');
    expect(world.prober.watched[0]!.target.logFrom).toBe(90);
    world.log.end = 120;
    expect(await world.source.listen()).toMatchObject({ kind: 'silence', mark: '120' });
    world.prober.watched[0]!.hit({ pattern: 'done', line: 'done 1' });
    expect(await world.source.listen()).toMatchObject({ kind: 'beat' });
    world.source[Symbol.dispose]();
    expect(world.prober.watched).toEqual([]);
  });

  test('a log that was removed makes us deaf, it is not silence', async () => {
    using world = listening(null);
    rmSync(world.path);
    expect(await world.source.listen()).toEqual({ kind: 'deaf', note: 'its log is not there' });
  });
});
