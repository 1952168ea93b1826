/** Attempts that fail leave a dossier in the project's history, written by the campaign itself: no daemon is there. */

import { expect, test } from 'vitest';
import type { MonoMs, WallMs } from '../../../src/base/pure/ids.ts';
import type { CampaignParts } from '../../../src/campaigns/ports.ts';
import { runCampaign } from '../../../src/campaigns/runner.ts';
import type { AttemptObservation, AttemptPlace } from '../../../src/compose/ports.ts';
import { openCampaignBook } from '../../../src/history/sqlite/experiments.ts';
import { openHistory } from '../../../src/history/sqlite/history.ts';
import { campaignSpec, experimentSpec, HEALTHY } from '../../support/campaign-world.ts';
import { NO_OUTAGES } from '../../support/no-outages.ts';
import { tempDir } from '../../support/temp-dir.ts';

const TRACEBACK = [
  'Traceback (most recent call last):',
  '  File "/work/train.py", line 12, in <module>',
  '    model = load("/models/7b")',
  '  File "/work/loader.py", line 40, in load',
  '    raise RuntimeError("CUDA out of memory")',
  'RuntimeError: CUDA out of memory',
];
const SAID = `epoch 1\nHF_HOME is set, and the token is open-sesame-4711\n${TRACEBACK.join('\n')}\n`;

const ended = (exitCode: number): AttemptObservation => ({ kind: 'ended', exitCode, durationMs: 1_500 });
const RUNNING: AttemptObservation = { kind: 'running' };
const LOST: AttemptObservation = { kind: 'lost', why: 'the container does not run' };

/** By attempt: the place of its experiment, and its number. */
const FATES: Readonly<Record<string, AttemptObservation>> = {
  'u1-0-1': ended(1),
  'u1-0-2': ended(1),
  'u1-1-1': RUNNING,
  'u1-2-1': LOST,
  'u1-3-1': ended(137),
  'u1-3-2': ended(0),
};

test('each failed attempt has a dossier, an interrupted one has none', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const book = await openCampaignBook(path);
  const spec = campaignSpec([
    experimentSpec('crashes', { retries: 1, env: { HUB_TOKEN: 'open-sesame-4711' } }),
    experimentSpec('hangs', { retries: 0, timeoutMs: 3_000 }),
    experimentSpec('lost', { retries: 0 }),
    experimentSpec('killed-once', { retries: 2 }),
    experimentSpec('interrupted'),
  ]);
  const head = { uid: 'u1', name: 'night', file: '/lab/night.yaml', source: '', composeFile: '/lab/c.yml' };
  const record = book.create({ ...head, projectDir: '/lab', experiments: spec.experiments }, 1 as WallMs);
  const stop = new AbortController();
  let now = 0;
  const parts = {
    clock: { now: () => now as MonoMs, wallNow: () => now as WallMs, sleepUntil: async () => {} },
    services: {
      start: async () => {},
      health: async () => HEALTHY,
      recover: async () => true,
      containerOf: async () => 'c1',
    },
    execs: {
      begin: async () => ({ kind: 'begun' }),
      pause: async () => {},
      look: async ({ attempt }: AttemptPlace, signal: AbortSignal) => {
        now += 1_000;
        if (attempt === 'u1-4-1') stop.abort(new Error('Ctrl-C'));
        signal.throwIfAborted();
        return FATES[attempt] ?? LOST;
      },
      output: async ({ attempt }: AttemptPlace, position: number) =>
        Buffer.from(attempt.startsWith('u1-0-') ? SAID : 'epoch 1\n').subarray(position),
      end: async () => true,
      forget: async () => {},
      clear: async () => {},
    },
    archives: {},
    observer: { step: () => {}, output: () => {}, note: () => {} },
    ...{ book, logDir: dir.at('logs'), secrets: [] },
  } as unknown as CampaignParts;
  const interrupts = { stop: stop.signal, rush: new AbortController().signal };
  expect(await runCampaign(parts, { record, spec }, interrupts, NO_OUTAGES)).toMatchObject({ outcome: 'interrupted' });

  const history = await openHistory(path);
  const crashes = history.crashes({ kind: 'experiment' });
  expect(crashes.map(({ subject, run_id, decision }) => `${subject.name} ${run_id}: ${decision}`)).toEqual([
    'night/killed-once u1-3-1: tried again (1 of 2)',
    'night/lost u1-2-1: failed for good',
    'night/hangs u1-1-1: failed for good',
    'night/crashes u1-0-2: failed for good',
    'night/crashes u1-0-1: tried again (1 of 1)',
  ]);
  const [killed, lost, hung, second, first] = crashes;
  expect(killed).toMatchObject({ exit: { signal: 'SIGKILL', code: null }, error_type: null });
  expect(lost).toMatchObject({
    root_cause: 'the container does not run',
    exit: { unknown: 'the container does not run' },
  });
  expect(hung).toMatchObject({ root_cause: 'it took longer than 3 s', exit: { unhealthy: 'it took longer than 3 s' } });
  const error = {
    error_type: 'RuntimeError',
    error_message: 'CUDA out of memory',
    exit: { code: 1 },
    uptime_ms: 1_500,
  };
  expect([first, second]).toMatchObject([
    error,
    { ...error, fingerprint: first!.fingerprint, incident: null, task_id: null },
  ]);
  const why = history.why({ subject: 'night/crashes' });
  expect(why).toMatchObject({
    ...{ id: second!.id, stack: TRACEBACK, related_files: ['/work/loader.py', '/work/train.py'] },
    rule: { name: 'retries', counters: { failures: 2, total: 1 } },
  });
  expect(why!.log_tail).toEqual([
    'epoch 1',
    expect.stringMatching(/^HF_HOME is set, and the token is \S+$/),
    ...TRACEBACK,
  ]);
  expect(JSON.stringify(history.crashes({}).map(({ id }) => history.why({ id })))).not.toContain('open-sesame');
  history.close();
  book.close();
});
