/** The log of a container over everything that can interrupt it, with an Engine that keeps its output like a real one. */
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { type ComponentName, componentName } from '../../../src/base/pure/ids.ts';
import type { ActionResult, EngineClient, LogRotation } from '../../../src/docker/ports.ts';
import { readCursor } from '../../../src/drivers/container/log-cursor.ts';
import { LogPump } from '../../../src/drivers/container/log-pump.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Message {
  readonly at: string;
  readonly text: string;
}

/** Times of the Engine: the same to the millisecond for many messages, as under load. */
const time = (index: number) =>
  `2026-01-02T03:04:05.${String(Math.floor(index / 50)).padStart(3, '0')}${String(index).padStart(6, '0')}Z`;
const lines = (count: number): readonly Message[] =>
  Array.from({ length: count }, (_, index) => ({ at: time(index), text: `line ${index} ${'x'.repeat(index % 40)}\n` }));
const textOf = (messages: readonly Message[]) => messages.map(({ text }) => text).join('');

interface FakeEngineOptions {
  /** Breaks off after so many messages, as often as there is a number. */
  readonly breaks?: number[];
  readonly rotation?: LogRotation;
  /** How many of the messages there are when it is asked for the n-th time. */
  readonly written?: (question: number) => number;
  /** Not told to who follows, though they are there. */
  readonly isPassedOver?: (index: number) => boolean;
}

/** Tells what it was given: like a real one, from the line of that time on. */
function fakeEngine(messages: readonly Message[], options: FakeEngineOptions = {}): Pick<EngineClient, 'logs'> {
  const { breaks = [], rotation = null, written = () => messages.length, isPassedOver = () => false } = options;
  let questions = 0;
  return {
    logs: async (_id, { after, follow, last = Infinity, onFirst, onPiece }, signal): Promise<ActionResult> => {
      const stopAt = breaks.shift() ?? Infinity;
      const there = messages.slice(0, written(questions++));
      let told = 0;
      let isFirst = true;
      for (const [index, { at, text }] of there.entries()) {
        signal.throwIfAborted();
        if (index < there.length - last || (after !== null && at < after)) continue;
        if (follow && isPassedOver(index)) continue;
        if (isFirst) onFirst?.(at, rotation);
        isFirst = false;
        if (at === after) continue;
        if (told++ >= stopAt) return { kind: 'unreachable', why: 'cut' };
        await onPiece(Buffer.from(text), at);
      }
      return { kind: 'done' };
    },
  };
}

const NAME = componentName('web');

/** Docker's copy: a question at the latest after 64 KiB, about 650 lines. */
const SMALL: LogRotation = { fileBytes: 2 ** 17, files: 3 };
const numbered = (index: number) => `${String(index).padStart(8, '0')} ${'x'.repeat(90)}\n`;
/** A line each 10 µs. */
const flood = (count: number): readonly Message[] =>
  Array.from({ length: count }, (_, index) => ({
    at: `2026-01-02T03:04:05.${String(index * 10).padStart(6, '0')}000Z`,
    text: numbered(index),
  }));

/** Numbers that do not follow the one before, where nothing says so. */
function unmarkedGaps(log: string): readonly string[] {
  const lines = log.trimEnd().split('\n');
  const isMark = (line: string | undefined) => line?.startsWith('[keepwell] lines are missing') === true;
  return lines.filter((line, index) => {
    const before = lines[index - 1];
    if (before === undefined || isMark(line) || isMark(before)) return false;
    return Number(line.slice(0, 8)) !== Number(before.slice(0, 8)) + 1;
  });
}

function workshop() {
  const dir = tempDir();
  const path = dir.at('web.log');
  const logEnd = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const gaps: { readonly from: string; readonly to: string }[] = [];
  const logGap = (_name: ComponentName, span: (typeof gaps)[number]) => void gaps.push(span);
  const world = { dir: dir.at('containers'), clock: systemClock, log: silentLog, logEnd, logGap };
  const pump = (engine: Pick<EngineClient, 'logs'>, container = 'c1') =>
    new LogPump({ component: NAME, container, path }, { ...world, engine });
  const log = () => (size() === 0 ? '' : readFileSync(path, 'utf8'));
  const size = logEnd;
  return { dir, path, pump, log, size, gaps, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

describe('the log of a container', () => {
  test('is whole when the Engine breaks off again and again', async () => {
    using shop = workshop();
    const all = lines(1_000);
    await shop.pump(fakeEngine(all, { breaks: [1, 300, 129] })).drained();
    expect(shop.log()).toBe(textOf(all));
  });

  test('goes on where the last daemon was killed, whatever it had not written down any more', async () => {
    using shop = workshop();
    const all = lines(700);
    for (const [written, ends] of [
      [200, 0],
      [455, 17],
      [700, 3],
    ] as const) {
      await shop.pump(fakeEngine(all.slice(0, written - 20))).drained();
      // What a daemon wrote after its last word about it, up to the middle of a line.
      const rest = textOf(all.slice(0, written)).slice(shop.log().length);
      appendFileSync(shop.path, rest.slice(0, rest.length - ends));
    }
    await shop.pump(fakeEngine(all)).drained();
    expect(shop.log()).toBe(textOf(all));
  });

  test('does not wait for what the Engine has thrown away meanwhile', async () => {
    using shop = workshop();
    const all = lines(300);
    await shop.pump(fakeEngine(all.slice(0, 250))).drained();
    await shop.pump(fakeEngine(all.slice(260))).drained();
    expect(shop.log()).toBe(textOf([...all.slice(0, 250), ...all.slice(260)]));
  });

  test('says where lines are missing that Docker threw away before they were read', async () => {
    using shop = workshop();
    const at = (index: number) => `2026-01-02T03:04:05.${String(index).padStart(3, '0')}000000Z`;
    const slow = Array.from({ length: 100 }, (_, index) => ({ at: at(index), text: `line ${index}\n` }));
    const told = (from: number, to: number) =>
      `[keepwell] lines are missing here: Docker threw away what was written from ${at(from)} to ${at(to)} before it was read\n`;
    await shop.pump(fakeEngine(slow.slice(0, 10))).drained();
    await shop.pump(fakeEngine(slow.slice(40, 50))).drained();
    // Nothing is missing when it goes on where it was, and when the time between two lines is all there is to it.
    await shop.pump(fakeEngine(slow.slice(40, 55))).drained();
    await shop.pump(fakeEngine([...slow.slice(40, 55), ...slow.slice(95)])).drained();
    expect(shop.log()).toBe(
      [textOf(slow.slice(0, 10)), told(9, 40), textOf(slow.slice(40, 55)), textOf(slow.slice(95))].join(''),
    );
  });

  test('is whole when Docker passes over lines while it is followed, and still has them', async () => {
    using shop = workshop();
    const all = flood(6_000);
    const isPassedOver = (index: number) => index >= 2_000 && index < 3_500;
    const pump = shop.pump(fakeEngine(all, { rotation: SMALL, isPassedOver }));
    await waitFor('all of it', () => shop.size() >= textOf(all).length);
    await pump.close();
    expect(shop.log()).toBe(textOf(all));
    expect(shop.gaps).toEqual([]);
  });

  test('says so when it finds that lines were passed over before what is in it already', async () => {
    using shop = workshop();
    const all = flood(6_000);
    // So early that nobody looks, and so few that no pause shows it.
    const isPassedOver = (index: number) => index === 70;
    const pump = shop.pump(fakeEngine(all, { rotation: SMALL, isPassedOver }));
    await waitFor('the end of it', () => shop.log().endsWith(all.at(-1)?.text ?? ''));
    await pump.close();
    const passedOver = all[70]?.text ?? '';
    const marker =
      /\[keepwell\] lines are missing above: Docker did not tell (\d+) bytes of what was written until (.+)\n/;
    const [line = '', bytes, until = ''] = marker.exec(shop.log()) ?? [];
    expect(Number(bytes)).toBe(passedOver.length);
    expect(shop.log().replace(line, '')).toBe(textOf(all).replace(passedOver, ''));
    expect(shop.gaps).toEqual([{ from: until, to: until }]);
  });

  test('says where lines are missing in the middle of a flood, and reads on without a gap', async () => {
    using shop = workshop();
    const all = flood(20_000);
    // Each time it is asked, there is more, and only the newest 5,000 are left.
    let end = 3_000;
    const moving: Pick<EngineClient, 'logs'> = {
      logs: (id, options, signal) => {
        end = Math.min(all.length, end + 3_000);
        const left = all.slice(Math.max(0, end - 5_000), end);
        const isPassedOver = (index: number) => index % 1_000 > 700;
        return fakeEngine(left, { rotation: SMALL, isPassedOver }).logs(id, options, signal);
      },
    };
    const pump = shop.pump(moving);
    await waitFor('the end of it', () => shop.log().endsWith(all.at(-1)?.text ?? ''));
    await pump.close();
    expect(shop.gaps.length).toBeGreaterThan(0);
    expect(unmarkedGaps(shop.log())).toEqual([]);
  });

  test('has no mark when a container that writes little pauses, whatever it wrote before', async () => {
    using shop = workshop();
    const at = (second: number) => new Date(Date.parse('2026-01-02T00:00:00Z') + second * 1_000).toISOString();
    const quiet = Array.from({ length: 5_000 }, (_, index) => ({ at: at(index), text: numbered(index) }));
    const pump = shop.pump(fakeEngine(quiet, { rotation: SMALL }));
    await waitFor('all of it', () => shop.size() >= textOf(quiet).length);
    await pump.close();
    expect(shop.log()).toBe(textOf(quiet));
    expect(shop.gaps).toEqual([]);
  });

  test('begins anew with a new container, after what the old one wrote', async () => {
    using shop = workshop();
    await shop.pump(fakeEngine(lines(10))).drained();
    await shop.pump(fakeEngine(lines(5)), 'c2').drained();
    expect(shop.log()).toBe(textOf(lines(10)) + textOf(lines(5)));
  });

  test('goes on when the Engine lost its place at the change of its file and tells nothing more', async () => {
    using shop = workshop();
    const all = lines(400);
    const engine = fakeEngine(all);
    let follows = 0;
    const stuck: Pick<EngineClient, 'logs'> = {
      logs: async (id, options, signal) => {
        if (!options.follow) return engine.logs(id, options, signal);
        follows++;
        const told = await fakeEngine(follows === 1 ? all.slice(0, 150) : all).logs(id, options, signal);
        // The connection stays, without a word.
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        return told;
      },
    };
    const pump = shop.pump(stuck);
    const length = () => statSync(shop.path, { throwIfNoEntry: false })?.size;
    await waitFor('all of it', () => length() === textOf(all).length);
    await pump.close();
    expect(follows).toBe(2);
    expect(shop.log()).toBe(textOf(all));
  });

  test('holds no more than a little in memory while a container writes as fast as it can', async () => {
    using shop = workshop();
    const piece = Buffer.alloc(64 * 1024, 'y');
    let told = 0;
    let ahead = 0;
    const flood: Pick<EngineClient, 'logs'> = {
      logs: async (_id, { onPiece, follow }) => {
        if (!follow) return { kind: 'done' }; // what it still has is of no interest here
        for (; told < 32 * 2 ** 20; told += piece.length) {
          await onPiece(piece, time(told / piece.length));
          ahead = Math.max(ahead, told - (statSync(shop.path, { throwIfNoEntry: false })?.size ?? 0));
        }
        return { kind: 'refused', why: 'that is all' };
      },
    };
    const pump = shop.pump(flood);
    await waitFor('all of it', () => told >= 32 * 2 ** 20);
    await pump.close();
    expect(ahead).toBeLessThan(2 ** 20);
    rmSync(shop.path);
  });
});

test('how far a container was heard is not "not at all" when that cannot be read: it would all be told a second time', () => {
  using dir = tempDir();
  expect(() => readCursor(dir.at('x'.repeat(300)))).toThrow('ENAMETOOLONG');
  expect(readCursor(dir.at('api.cursor'))).toBeNull();
  writeFileSync(dir.at('api.cursor'), '{"container": "half');
  expect(readCursor(dir.at('api.cursor'))).toBeNull();
});
