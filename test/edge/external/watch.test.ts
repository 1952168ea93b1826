/** What a row of looks comes to, look by look. The target here is a script: which sight is shown when. */
import { expect, test } from 'vitest';
import { after } from '../../../src/base/pure/ids.ts';
import {
  gone,
  type TargetObservation,
  type TargetWatch,
  there,
  unknown,
} from '../../../src/drivers/external/target.ts';
import { type KnownTarget, Troubles, Watch } from '../../../src/drivers/external/watch.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { RecordedLog } from './lookout.ts';

const SIGHTS: Readonly<Record<string, TargetObservation>> = {
  T: there({ pid: 7, identity: 'it' }),
  G: gone('it went'),
  U: unknown('too many open files'),
};

/** T there, G gone, U unknown; once the script is over, unknown for ever. */
function scripted(script: string, failuresNeeded: number) {
  const clock = new FakeClock();
  const log = new RecordedLog();
  let looks = 0;
  const targetWatch: TargetWatch = {
    failuresNeeded,
    asks: 'the target',
    look: () => Promise.resolve(SIGHTS[script[looks++] ?? 'U'] ?? unknown('')),
  };
  const ending = new AbortController();
  const watch = new Watch({ targetWatch, clock, troubles: new Troubles(log), signal: ending.signal });
  const ends = async (observation: Promise<KnownTarget>): Promise<string> => {
    let end = 'none';
    observation.then(
      ({ kind }) => {
        end = `${kind} after ${looks}`;
      },
      () => {},
    );
    await clock.advance(60_000);
    ending.abort();
    return end;
  };
  return { watch, clock, log, ends };
}

test.each([
  { needs: 1, script: 'T', end: 'there after 1' },
  { needs: 1, script: 'G', end: 'gone after 1' },
  { needs: 1, script: 'UUG', end: 'gone after 3' },
  { needs: 3, script: 'GT', end: 'there after 2' },
  { needs: 3, script: 'GGG', end: 'gone after 3' },
  { needs: 3, script: 'GUGUG', end: 'gone after 5' },
  { needs: 3, script: 'GG', end: 'none' },
])('with $needs failures needed, $script tells whether it is there: $end', async ({ needs, script, end }) => {
  const { watch, ends } = scripted(script, needs);
  expect(await ends(watch.find())).toBe(end);
});

test.each([
  { needs: 1, script: 'TTG', end: 'gone after 3' },
  { needs: 1, script: 'TUUUUG', end: 'gone after 6' },
  { needs: 3, script: 'TGGTGGG', end: 'gone after 7' },
  { needs: 3, script: 'GGTGGTGGT', end: 'none' },
  { needs: 3, script: 'GUUGUG', end: 'gone after 6' },
  { needs: 3, script: 'GGUUUUUU', end: 'none' },
])('with $needs failures needed, $script is the end of what was there: $end', async ({ needs, script, end }) => {
  const { watch, ends } = scripted(script, needs);
  expect(await ends(watch.goes({ pid: 7, identity: 'it' }))).toBe(end);
});

test.each([
  { script: 'GGGGT', limitMs: null, end: 'there after 5' },
  { script: 'GGGGGGGG', limitMs: null, end: 'none' },
  { script: 'GGGGT', limitMs: 4_000, end: 'there after 5' },
  { script: 'GGGGT', limitMs: 3_000, end: 'gone after 4' },
  { script: 'GUUUUUUT', limitMs: 3_000, end: 'there after 8' },
  { script: 'GUUUUUUG', limitMs: 3_000, end: 'gone after 8' },
])('waiting $limitMs ms for what shows $script: $end', async ({ script, limitMs, end }) => {
  const { watch, clock, ends } = scripted(script, 1);
  expect(await ends(watch.comes(limitMs === null ? null : after(clock.now(), limitMs)))).toBe(end);
});

test('one glance is enough to know that it can be looked at', async () => {
  const { watch, ends } = scripted('UUG', 3);
  expect(await ends(watch.glance())).toBe('gone after 3');
});

test('not being able to look is said when it begins and when it is over, not each time', async () => {
  const { watch, log, ends } = scripted('TUUUTTUUTG', 1);
  await ends(watch.goes({ pid: 7, identity: 'it' }));
  expect(log.lines.map(({ level, data }) => [level, data])).toEqual([
    ['warn', { who: 'the target', why: 'too many open files' }],
    ['info', { who: 'the target' }],
    ['warn', { who: 'the target', why: 'too many open files' }],
    ['info', { who: 'the target' }],
  ]);
});

test('a watch that is called off waits for nothing any more', async () => {
  const { watch, clock, ends } = scripted('', 1);
  await ends(watch.comes(null));
  await clock.advance(1);
  expect(clock.sleeping).toBe(0);
});
