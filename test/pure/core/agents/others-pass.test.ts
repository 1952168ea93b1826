import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../../src/agents/rules/others-entry.ts';
import {
  isForgotten,
  judge,
  type Memory,
  NOTHING_KNOWN,
  type ProcessObservation,
  pass,
  type RunFate,
  readStored,
  START_SLACK_MS,
  stillZombies,
  storedText,
  withTold,
  withZombies,
} from '../../../../src/agents/rules/others-pass.ts';
import type { ExitCause } from '../../../../src/base/pure/exit.ts';
import type { BootId, MonoMs, RunId, WallMs } from '../../../../src/base/pure/ids.ts';

const BOOT = 'boot-1' as BootId;
const BEGAN = 1_000_000 as WallMs;
const GRACE_MS = 100;
const entry = (more: Partial<Entry> = {}): Entry => ({
  ...{ key: '77', pid: 77, type: 'architect', task: 'SPEC-1', id: 'one' },
  startedAt: { earliest: BEGAN, latest: BEGAN },
  ...more,
});
const there = (more: Partial<Extract<ProcessObservation, { kind: 'there' }>> = {}): ProcessObservation => ({
  ...{ kind: 'there', zombie: false, exit: null, startTime: '500', startedAt: BEGAN, ppid: 10, run: null },
  ...more,
});
const code = (of: number): ExitCause => ({ kind: 'code', code: of, ambiguous: false });
const zombie = (exit: ExitCause | null): ProcessObservation => there({ zombie: true, exit });
const GONE: ProcessObservation = { kind: 'gone' };
const HIDDEN: ProcessObservation = { kind: 'unknown', why: 'we may not look' };

describe('whether the process of an entry lives', () => {
  const seen = { id: 'one', seen: { boot: BOOT, startTime: '500', ppid: 10 } };
  test.each([
    ['it is there', there(), null, { kind: 'alive', orphan: false }],
    ['it is gone', GONE, null, { kind: 'dead', why: 'process 77 is gone' }],
    ['nobody may look', HIDDEN, null, { kind: 'unknown' }],
    ['nobody may look at one that was seen', HIDDEN, seen, { kind: 'unknown' }],
    [
      'it began a little later than its entry says',
      there({ startedAt: (BEGAN + START_SLACK_MS) as WallMs }),
      null,
      { kind: 'alive' },
    ],
    [
      'its number belongs to somebody who came later',
      there({ startedAt: (BEGAN + START_SLACK_MS + 1) as WallMs }),
      null,
      { kind: 'dead' },
    ],
    [
      'the clock was set, but it is the one that was seen',
      there({ startedAt: (BEGAN + 1e9) as WallMs }),
      seen,
      { kind: 'alive' },
    ],
    [
      'it is another one than was seen, however old',
      there({ startTime: '501', startedAt: 0 as WallMs }),
      seen,
      { kind: 'dead' },
    ],
    ['it has ended and nobody took note', there({ zombie: true }), null, { kind: 'dead', zombie: true }],
    ['its parent is another one now', there({ ppid: 1 }), seen, { kind: 'alive', orphan: true }],
    ['it always had init as parent', there({ ppid: 1 }), null, { kind: 'alive', orphan: false }],
  ])('%s', (_, observation, known, verdict) => {
    expect(judge(entry(), observation, known, BOOT)).toMatchObject(verdict);
  });
  test('without a time in its entry, whoever has the number is taken for the agent until somebody else has it', () => {
    expect(judge(entry({ startedAt: null }), there({ startedAt: 9e15 as WallMs }), null, BOOT).kind).toBe('alive');
    expect(judge(entry({ startedAt: null }), there({ startTime: '501' }), seen, BOOT).kind).toBe('dead');
  });
  test('after a restart of the machine nobody is who they were', () => {
    expect(judge(entry(), there(), seen, 'boot-2' as BootId)).toMatchObject({ kind: 'dead', reboot: true });
  });
});

describe('one pass after the other', () => {
  const at = (now: number, wall = BEGAN + 5_000) => ({
    now: now as MonoMs,
    wall: wall as WallMs,
    boot: BOOT,
    graceMs: GRACE_MS,
    tidyMs: GRACE_MS,
    fate: (): RunFate => 'other',
  });
  /** Each look at the only entry, and how it stood at the last. */
  const standing = (looks: readonly [number, ProcessObservation][], about = entry(), first: Memory = NOTHING_KNOWN) => {
    let memory = first;
    let last = '';
    for (const [now, observation] of looks) {
      const result = pass(memory, [{ entry: about, observation: observation }], at(now));
      memory = result.memory;
      last = result.judged[0]!.state;
    }
    return last;
  };

  test('one that dies while we watch is left to its owner for a while, and then it has crashed', () => {
    expect(
      standing([
        [0, there()],
        [10, GONE],
      ]),
    ).toBe('pending');
    expect(
      standing([
        [0, there()],
        [10, GONE],
        [109, GONE],
      ]),
    ).toBe('pending');
    expect(
      standing([
        [0, there()],
        [10, GONE],
        [110, GONE],
      ]),
    ).toBe('crashed');
  });
  test('one that was dead before anybody watched is a forgotten entry', () => {
    expect(
      standing([
        [0, GONE],
        [100, GONE],
      ]),
    ).toBe('stale');
  });
  test('one that came and went between two looks has crashed', () => {
    const before: Memory = { ...NOTHING_KNOWN, readAt: (BEGAN - 1) as WallMs };
    expect(
      standing(
        [
          [0, GONE],
          [100, GONE],
        ],
        entry(),
        before,
      ),
    ).toBe('crashed');
  });
  test('an old entry that appears dead in a file we know is a forgotten one', () => {
    const before: Memory = { ...NOTHING_KNOWN, readAt: (BEGAN + 1) as WallMs };
    expect(
      standing(
        [
          [0, GONE],
          [100, GONE],
        ],
        entry(),
        before,
      ),
    ).toBe('stale');
  });
  test('a moment in which nobody could look begins the time anew', () => {
    expect(
      standing([
        [0, there()],
        [10, GONE],
        [60, HIDDEN],
        [110, GONE],
        [209, GONE],
      ]),
    ).toBe('pending');
  });
  test('one that is seen again was never dead', () => {
    expect(
      standing([
        [0, there()],
        [10, GONE],
        [60, there()],
        [150, GONE],
      ]),
    ).toBe('pending');
  });
  test.each<[string, RunFate, string]>([
    ['ended because somebody asked for it, so did the agent', 'asked', 'stopped'],
    ['is being ended, nobody knows yet why the agent is gone', 'ending', 'pending'],
    ['goes on, or died by itself, the agent has crashed', 'other', 'crashed'],
  ])('where the run that it belonged to %s', (_, fate, expected) => {
    const first = pass(NOTHING_KNOWN, [{ entry: entry(), observation: there({ run: 'loop~1' as RunId }) }], at(0));
    const second = pass(first.memory, [{ entry: entry(), observation: GONE }], { ...at(10), fate: () => fate });
    expect(second.judged[0]!.state).toBe('pending');
    // The next daemon judges in the same way.
    const stored = readStored('/a.json', storedText('/a.json', { memory: first.memory, cleaning: [] }))!;
    for (const memory of [second.memory, pass(stored.memory, [{ entry: entry(), observation: GONE }], at(10)).memory]) {
      const asked: RunId[] = [];
      const of = (run: RunId) => {
        asked.push(run);
        return fate;
      };
      const third = pass(memory, [{ entry: entry(), observation: GONE }], { ...at(110), fate: of });
      expect([third.judged[0]!.state, asked]).toEqual([expected, ['loop~1']]);
    }
  });
  test('what an older version remembers says nothing of the run', () => {
    const { memory } = pass(NOTHING_KNOWN, [{ entry: entry(), observation: there() }], at(0));
    const old = storedText('/a.json', { memory, cleaning: [] }).replace(',"run":null', '');
    const asked = (): RunFate => 'asked';
    const known = readStored('/a.json', old)!.memory;
    const { memory: dead } = pass(known, [{ entry: entry(), observation: GONE }], { ...at(0), fate: asked });
    const [judged] = pass(dead, [{ entry: entry(), observation: GONE }], { ...at(100), fate: asked }).judged;
    expect(judged!.state).toBe('crashed');
  });
  test.each<[string, readonly [number, ProcessObservation][], string]>([
    [
      'one that ended with 0 has finished, also when nobody waits for it',
      [
        [10, zombie(code(0))],
        [110, zombie(code(0))],
      ],
      'finished',
    ],
    [
      'and also when its parent takes note of that before we do anything',
      [
        [10, zombie(code(0))],
        [110, GONE],
      ],
      'finished',
    ],
    [
      'its owner may still remove its entry',
      [
        [10, zombie(code(0))],
        [109, zombie(code(0))],
      ],
      'pending',
    ],
    [
      'one that ended with another code has crashed',
      [
        [10, zombie(code(3))],
        [110, zombie(code(3))],
      ],
      'crashed',
    ],
    [
      'how one ended whose code we may not read is not known, however long',
      [
        [10, zombie(null)],
        [900, zombie(null)],
      ],
      'unknown',
    ],
    [
      'until it is gone: then it is like any other',
      [
        [10, zombie(null)],
        [110, GONE],
      ],
      'crashed',
    ],
  ])('%s', (_, looks, expected) => {
    expect(standing([[0, there()], ...looks])).toBe(expected);
  });
  test('one that had ended with 0 before anybody watched has finished, too', () => {
    const looks: readonly [number, ProcessObservation][] = [
      [0, zombie(code(0))],
      [100, zombie(code(0))],
    ];
    expect(standing(looks)).toBe('finished');
  });
  test('a forgotten entry is left to its owner for longer than that of a crash', () => {
    const slow = (now: number) => ({ ...at(now), tidyMs: 10 * GRACE_MS });
    const looks = (observation: ProcessObservation, now: number) => {
      const first = pass(NOTHING_KNOWN, [{ entry: entry(), observation: there() }], slow(0));
      const dead = pass(first.memory, [{ entry: entry(), observation: observation }], slow(10));
      return pass(dead.memory, [{ entry: entry(), observation: observation }], slow(now)).judged[0]!;
    };
    expect(looks(GONE, 110).state).toBe('crashed');
    expect(looks(zombie(code(0)), 110).state).toBe('pending');
    expect(looks(zombie(code(0)), 1_010)).toMatchObject({ state: 'finished', exit: code(0) });
    expect(isForgotten(looks(zombie(code(0)), 1_010))).toBe(true);
    expect(isForgotten(looks(GONE, 110))).toBe(false);
  });
  test('how one ended outlives the daemon that saw it', () => {
    const first = pass(NOTHING_KNOWN, [{ entry: entry(), observation: there() }], at(0));
    const { memory } = pass(first.memory, [{ entry: entry(), observation: zombie(code(0)) }], at(10));
    const known = readStored('/a.json', storedText('/a.json', { memory, cleaning: [] }))!.memory;
    const next = pass(known, [{ entry: entry(), observation: GONE }], at(20)).memory;
    expect(pass(next, [{ entry: entry(), observation: GONE }], at(120)).judged[0]!.state).toBe('finished');
  });
  test('a zombie whose entry is gone is counted until its parent takes note, also by the next daemon', () => {
    const { judged, memory } = pass(NOTHING_KNOWN, [{ entry: entry(), observation: zombie(code(0)) }], at(0));
    const cleaned = withZombies(memory, judged);
    const later = readStored('/a.json', storedText('/a.json', { memory: cleaned, cleaning: [] }))!.memory;
    for (const known of [cleaned, later]) {
      expect(stillZombies(known, [], () => zombie(code(0)))).toMatchObject([{ startTime: '500', entry: { pid: 77 } }]);
      expect(stillZombies(known, [], () => GONE)).toEqual([]);
      expect(stillZombies(known, [], () => there({ startTime: '900' }))).toEqual([]);
      expect(stillZombies(known, judged, () => zombie(code(0)))).toEqual([]);
    }
  });
  test('a crash is told once', () => {
    const first = pass(NOTHING_KNOWN, [{ entry: entry(), observation: there() }], at(0));
    const told = withTold(pass(first.memory, [{ entry: entry(), observation: GONE }], at(10)).memory, '77');
    expect(standing([[500, GONE]], entry(), told)).toBe('told');
  });
  test('a new entry under the same number begins with a clean slate', () => {
    const first = pass(NOTHING_KNOWN, [{ entry: entry(), observation: there() }], at(0));
    const second = pass(
      first.memory,
      [{ entry: entry({ id: 'two' }), observation: there({ startTime: '900' }) }],
      at(10),
    );
    expect(second.judged[0]!.state).toBe('alive');
  });
  test('entries that are gone from the file are forgotten', () => {
    const first = pass(NOTHING_KNOWN, [{ entry: entry(), observation: there() }], at(0));
    expect(pass(first.memory, [], at(10)).memory.entries.size).toBe(0);
  });
  test('the next daemon knows whom this one saw, and that it was not there itself', () => {
    const first = pass(NOTHING_KNOWN, [{ entry: entry(), observation: there() }], at(0));
    const cleaning = [{ key: '5', text: '5 (x)' }];
    const next = readStored('/a.json', storedText('/a.json', { memory: first.memory, cleaning }))!;
    expect(next.cleaning).toEqual(cleaning);
    expect(
      standing(
        [
          [0, GONE],
          [100, GONE],
        ],
        entry(),
        next.memory,
      ),
    ).toBe('crashed');
    expect(
      standing(
        [
          [0, GONE],
          [100, GONE],
        ],
        entry({ key: '8', id: 'new' }),
        next.memory,
      ),
    ).toBe('stale');
    expect(readStored('/b.json', storedText('/a.json', { memory: first.memory, cleaning }))).toBeNull();
    expect(readStored('/a.json', '{')).toBeNull();
  });
});
