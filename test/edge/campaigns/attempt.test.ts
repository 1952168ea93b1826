/** What one attempt comes to when the Engine is away at an odd moment, or somebody interrupts it. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { MonoMs, WallMs } from '../../../src/base/pure/ids.ts';
import { artifactLedger } from '../../../src/campaigns/artifacts.ts';
import { openAttemptLog } from '../../../src/campaigns/attempt-log.ts';
import type { Outages } from '../../../src/campaigns/outages.ts';
import type { CampaignParts, CampaignRecord } from '../../../src/campaigns/ports.ts';
import type { Write } from '../../../src/campaigns/rules/state.ts';
import { runAttempt } from '../../../src/campaigns/runner.ts';
import { settleOpen } from '../../../src/campaigns/service.ts';
import type { AttemptObservation } from '../../../src/compose/ports.ts';
import { campaignSpec, experimentSpec, FakeBook } from '../../support/campaign-world.ts';
import { NO_OUTAGES } from '../../support/no-outages.ts';
import { tempDir } from '../../support/temp-dir.ts';

const AWAY: AttemptObservation = { kind: 'unreachable', why: 'no Engine' };
const LOST: AttemptObservation = { kind: 'lost', why: 'the container does not run' };
const RUNNING: AttemptObservation = { kind: 'running' };
const open = { position: 0, attempt: 'uid-0-1', number: 1, container: 'c1' };

/** These are seen one after the other, the last one for ever; each look takes a second. */
function world(sights: readonly AttemptObservation[], onLook: () => void = () => {}, outages: Outages = NO_OUTAGES) {
  const dir = tempDir();
  const left = [...sights];
  const writes: Write[] = [];
  let now = 0;
  const parts = {
    clock: { now: () => now as MonoMs, wallNow: () => now as WallMs, sleepUntil: async () => {} },
    execs: {
      begin: async () => ({ kind: 'begun' }),
      look: async (_place: unknown, signal: AbortSignal) => {
        now += 1_000;
        onLook();
        signal.throwIfAborted();
        return left.length > 1 ? left.shift()! : left[0]!;
      },
      pause: async () => {},
      output: async () => Buffer.alloc(0),
      end: async () => true,
      forget: async () => {},
      clear: async () => {},
    },
    services: { health: async () => ({ status: 'healthy' }) },
    book: { write: (_id: number, more: readonly Write[]) => writes.push(...more) },
    archives: {},
    observer: { step: () => {}, output: () => {}, note: () => {} },
    logDir: dir.path,
  } as unknown as CampaignParts;
  const spec = campaignSpec([experimentSpec('a', { timeoutMs: 3_000 })]);
  const record = {
    ...{ id: 1, name: 'night', open, openSince: 0 },
    experiments: new FakeBook(spec).experiments,
  } as unknown as CampaignRecord;
  const stop = new AbortController();
  const interrupts = { stop: stop.signal, rush: new AbortController().signal };
  return {
    stop,
    writes,
    passes: (ms: number) => {
      now += ms;
    },
    run: () =>
      runAttempt(parts, { record, spec }, open, {
        joining: false,
        interrupts,
        outages,
        ledger: artifactLedger(parts.archives, parts.clock),
      }),
    settle: () => settleOpen(parts, record, []),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

test('an experiment whose container died is to blame, unless the Engine was away and took it along', async () => {
  using died = world([RUNNING, LOST]);
  expect((await died.run()).end.kind).toBe('lost');
  using takenAlong = world([RUNNING, AWAY, LOST]);
  expect((await takenAlong.run()).end.kind).toBe('interrupted');
});

test('while the Engine is away no time runs out: it may have ended long ago', async () => {
  using late = world([AWAY, AWAY, AWAY, AWAY, { kind: 'ended', exitCode: 0, durationMs: 5 }]);
  expect((await late.run()).end).toEqual({ kind: 'exited', code: 0 });
  using hangs = world([RUNNING]);
  expect((await hangs.run()).end.kind).toBe('timeout');
});

test('the time for which the Engine is away is not the time of the experiment', async () => {
  const sights = [AWAY, RUNNING, { kind: 'ended', exitCode: 0, durationMs: 5 }] as const;
  // A minute passes while it is waited for.
  let awayMs = 0;
  const outages: Outages = {
    ...NO_OUTAGES,
    get awayMs() {
      return awayMs;
    },
    over: async () => {
      awayMs += 60_000;
      scene.passes(60_000);
    },
  };
  using scene = world(sights, () => {}, outages);
  expect((await scene.run()).end).toEqual({ kind: 'exited', code: 0 });
});

test('what an Engine takes along before it is gone itself is not to blame, and all services are started again', async () => {
  let count = 0;
  const outages: Outages = {
    ...NO_OUTAGES,
    get count() {
      return count;
    },
    over: async () => {
      count = 1;
    },
  };
  using scene = world([RUNNING, LOST], () => {}, outages);
  expect(await scene.run()).toMatchObject({ end: { kind: 'interrupted' }, wasAway: true });
});

test('interrupted while the Engine is away it stays open, so that nothing is begun beside it', async () => {
  using scene = world([RUNNING, AWAY], () => scene.stop.abort(new Error('Ctrl-C')));
  await expect(scene.run()).rejects.toThrow('Ctrl-C');
});

test('put away it is closed where the Engine says what became of it, and only there', async () => {
  using away = world([AWAY]);
  await away.settle();
  expect(away.writes).toEqual([]);
  using gone = world([LOST]);
  await gone.settle();
  expect(gone.writes).toMatchObject([{ kind: 'attempt-over', outcome: 'interrupted' }, { kind: 'experiment' }]);
});

test('the logs of experiments with numbers in their names do not mix', async () => {
  using dir = tempDir();
  const [first, second] = [openAttemptLog(dir.path, 'v1', 2), openAttemptLog(dir.path, 'v1.2', 1)];
  await first.append(Buffer.from('of v1'));
  await second.append(Buffer.from('of v1.2'));
  expect([readFileSync(dir.at('v1.log'), 'utf8'), readFileSync(dir.at('v1.2.log'), 'utf8')]).toEqual([
    'of v1',
    'of v1.2',
  ]);
});
