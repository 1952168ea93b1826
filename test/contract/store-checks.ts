/** What every store promises about results of checks. */

import { expect, test } from 'vitest';
import type { Store } from '../../src/history/ports.ts';
import { checkedOf, eventOf, wall } from '../support/history-samples.ts';

export function checkRules(store: () => Store): void {
  const results = (check = 'sandbox', limit = 100) => store().checkResults({ check, limit });

  test('results of checks come back as they were given, newest first, by check and up to the limit', () => {
    const failed = checkedOf('sandbox', 2, { status: 'failed', message: "it's \u0001 gone" });
    store().commit({ checked: [failed, checkedOf('sandbox', 1)] });
    store().commit({ checked: [checkedOf('sandbox', 3, { status: 'skipped' }), checkedOf('login', 9)] });
    expect(results()).toEqual([checkedOf('sandbox', 3, { status: 'skipped' }), failed, checkedOf('sandbox', 1)]);
    expect(results('sandbox', 1)).toHaveLength(1);
    expect(results('login')).toEqual([checkedOf('login', 9)]);
    expect(results('nobody')).toEqual([]);
  });

  test('an event of a check is no event of the component of that name', () => {
    const subject = { kind: 'check', name: 'api' } as const;
    store().commit({ events: [eventOf('api', 'component.started'), eventOf('api', 'check.changed', { subject })] });
    const events = (query: { component?: string }) => store().events({ afterSeq: 0, limit: 10, ...query });
    expect(events({})[1]).toMatchObject({ type: 'check.changed', subject });
    expect(events({ component: 'api' }).map(({ type }) => type)).toEqual(['component.started']);
  });

  test('a stretch of results that goes on is written over itself, and only itself', () => {
    store().commit({ checked: [checkedOf('sandbox', 1), checkedOf('login', 1)] });
    const longer = checkedOf('sandbox', 1, { lastAt: wall(600_000), count: 40, message: 'still there', maxMs: 88 });
    store().commit({ checked: [longer] });
    expect(results()).toEqual([longer]);
    expect(results('login')).toEqual([checkedOf('login', 1)]);
  });
}
