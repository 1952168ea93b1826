import { expect, test } from 'vitest';
import { silentLog } from '../../../src/base/log.ts';
import { exitView } from '../../../src/base/pure/exit.ts';
import type { WallMs } from '../../../src/base/pure/ids.ts';
import type { Failure } from '../../../src/docker/healing/ports.ts';
import type { EngineClient } from '../../../src/docker/ports.ts';
import { sessionCases } from '../../../src/sessions/crashes.ts';
import type { SessionRecord } from '../../../src/sessions/spec.ts';
import type { NewCrash } from '../../../src/supervision/ports/store.ts';
import { FRESH } from '../../../src/supervision/rules/lifecycle/state.ts';
import type { Subject } from '../../../src/supervision/rules/views.ts';

const SESSION = { id: 'f00d', template: 'lab', containerId: 'c1' } as SessionRecord;
const BEGAN = '2026-01-02T03:04:05.000000000Z';

const DIED: Failure = {
  ...{ why: 'exit code 7', exit: exitView({ kind: 'code', code: 7, ambiguous: false }), hasEnded: true },
  ...{ startedAt: BEGAN, uptimeMs: 2_000, rule: 'limit', decision: 'gave up: 1 restart in 10 min' },
  counters: { ...FRESH, restarts: [5 as never], failures: 1 },
};

type Logs = EngineClient['logs'];

function scene(logs: Logs) {
  const crashes: NewCrash[] = [];
  const recovered: Subject[] = [];
  let now = 1_000;
  const cases = sessionCases({
    engine: { logs },
    clock: { wallNow: () => now++ as WallMs },
    log: silentLog,
    incidentService: { recovered: (subject) => void recovered.push(subject) },
    secrets: (template) => (template === 'lab' ? ['open-sesame'] : []),
    record: (...commits) => {
      crashes.push(...commits.map(({ crash }) => ({ ...crash!, incident: 1 })));
      return commits;
    },
  });
  return { cases, crashes, recovered };
}

const says =
  (...lines: readonly (readonly [at: string, text: string])[]): Logs =>
  async (_id, { onPiece }) => {
    for (const [at, text] of lines) await onPiece(Buffer.from(`${text}\n`), `2026-01-02T03:04:${at}Z`);
    return { kind: 'done' };
  };

test('the dossier has the facts of the end, and what was said before it and not after the next start', async () => {
  const { cases, crashes } = scene(
    says(['05.1', 'hello open-sesame'], ['07.2', 'fatal: no flag'], ['08.1', 'hello again']),
  );
  await cases.failed(SESSION, DIED);
  expect(crashes).toMatchObject([
    {
      ...{ subject: { kind: 'session', name: 'f00d' }, exit: { code: 7 }, uptimeMs: 2_000, rule: 'limit', incident: 1 },
      ...{ decision: DIED.decision, restartsInWindow: 1, errorMessage: 'fatal: no flag' },
      logTail: [expect.not.stringContaining('sesame'), 'fatal: no flag'],
    },
  ]);
});

test('an end that is found again is the same run, a container that is unhealthy again is another', async () => {
  const { cases, crashes } = scene(says());
  const unhealthy = {
    ...DIED,
    hasEnded: false,
    exit: exitView({ kind: 'unknown', why: 'x' }, 'check said open-sesame'),
  };
  for (const failure of [DIED, DIED, unhealthy, unhealthy]) await cases.failed(SESSION, failure);
  const [first, second, third, fourth] = crashes.map(({ run }) => run);
  expect([first === second, second === third, third === fourth]).toEqual([true, false, false]);
  expect(crashes[2]!.rootCause).toMatch(/^check said /);
  expect(JSON.stringify(crashes)).not.toContain('sesame');
});

test('without its output the end is written all the same', async () => {
  const { cases, crashes } = scene(() => Promise.reject(new Error('no Engine')));
  await cases.failed(SESSION, DIED);
  await cases.failed({ ...SESSION, containerId: null }, DIED);
  expect(crashes).toMatchObject([{ logTail: [], exit: { code: 7 } }, { logTail: [] }]);
});

test('what is ready or removed has recovered, and nothing else', () => {
  const { cases, recovered } = scene(says());
  const told = (...types: readonly ('session.ready' | 'session.removed' | 'session.unhealthy' | 'session.expired')[]) =>
    cases.told(
      SESSION,
      types.map((type) => ({ type, data: {} })),
    );
  told('session.unhealthy', 'session.expired');
  expect(recovered).toEqual([]);
  told('session.ready');
  told('session.removed');
  expect(recovered).toHaveLength(2);
});
