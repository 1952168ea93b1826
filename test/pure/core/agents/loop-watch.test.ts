import { expect, test } from 'vitest';
import { LoopWatch } from '../../../../src/agents/loop.ts';
import { NO_AGENTS } from '../../../../src/agents/spec.ts';
import { silentLog } from '../../../../src/base/log.ts';
import type { ComponentName } from '../../../../src/base/pure/ids.ts';
import type { Alert } from '../../../../src/incidents/alerts/ports.ts';
import { incidentKey, loopFreezeKey } from '../../../../src/incidents/ports.ts';
import type { ComponentView } from '../../../../src/supervision/rules/views.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { idle, view } from '../../cli/views.ts';

const INCIDENT = 7;

/** A loop that froze, and was then given up. `isRaised`: people are told of its incident already, because of its crashes. */
async function alertsOf(isRaised: boolean): Promise<readonly Alert[]> {
  const raised: Alert[] = [];
  const meta = new Map<string, string>();
  let now: ComponentView = view('loop', { condition: 'frozen' });
  const watch = new LoopWatch({
    clock: new FakeClock(),
    log: silentLog,
    store: {
      meta: (key) => meta.get(key) ?? null,
      setMeta: (key, value) => void meta.set(key, value),
      incident: () => null,
    },
    incidentService: { problem: () => ({ incident: INCIDENT, ticket: 1 }), recovered: () => undefined },
    alerts: {
      raise: (alert) => void raised.push(alert),
      clear: () => undefined,
      isOpen: (key) => isRaised && key === incidentKey(INCIDENT),
    },
    view: () => now,
    isObserved: () => false,
    unsupervisedMs: () => null,
    fileAgeMs: async () => null,
    subscribe: () => () => undefined,
  });
  watch.use({ ...NO_AGENTS, loop: 'loop' as ComponentName });
  await watch.look();
  now = idle('loop', 'gave-up');
  await watch.look();
  await watch.close();
  return raised;
}

test('a loop that is given up is told under its own name', async () => {
  expect(await alertsOf(false)).toMatchObject([
    { key: loopFreezeKey('loop'), incident: INCIDENT, text: 'loop is frozen, and has used up its restarts' },
  ]);
});

test('and where people are told of its incident already, that is not a second alert', async () => {
  expect(await alertsOf(true)).toMatchObject([{ key: incidentKey(INCIDENT), incident: INCIDENT }]);
});
