/** What every store promises about sessions. */

import { expect, test } from 'vitest';
import type { WallMs } from '../../src/base/pure/ids.ts';
import type { Store } from '../../src/history/ports.ts';
import type { SessionRecord } from '../../src/sessions/spec.ts';
import { sessionRecord } from '../support/session-record.ts';

const created = (second: number, more: Partial<SessionRecord> = {}): SessionRecord => {
  const { lease } = sessionRecord();
  return sessionRecord({ ...more, lease: { ...lease, createdAt: (lease.createdAt + second * 1_000) as WallMs } });
};
const END = { reason: 'expired', why: 'its lease was over', at: 1e12 as WallMs } as const;

export function sessionRules(store: () => Store): void {
  test('a session is open until it has ended, and is written over itself', () => {
    const [first, second] = [created(1, { id: 'a1' }), created(2, { id: 'b2', user: "o'bob" })];
    store().commit({ session: second }, { session: { ...first, state: 'spawning' } }, { session: first });
    expect(store().sessions({ which: 'open', limit: 0 })).toEqual([first, second]);
    expect(store().sessions({ which: 'open', limit: 0, user: "o'bob" })).toEqual([second]);
    const ended = { ...first, state: 'ended', end: END } as const;
    store().commit({ session: { ...first, state: 'ending', end: END } }, { session: ended });
    expect(store().sessions({ which: 'open', limit: 0 })).toEqual([second]);
    expect([store().session('a1'), store().session('c3')]).toEqual([ended, null]);
  });

  test('those that have ended come newest first, by user and up to the limit', () => {
    const ended = [1, 2, 3].map((n) => created(n, { id: `e${n}`, state: 'ended', end: END, user: `u${n % 2}` }));
    for (const session of ended) store().commit({ session });
    const ids = (user?: string, limit = 10) =>
      store()
        .sessions({ which: 'ended', limit, ...(user === undefined ? {} : { user }) })
        .map(({ id }) => id);
    expect([ids(), ids('u1'), ids(undefined, 1)]).toEqual([['e3', 'e2', 'e1'], ['e3', 'e1'], ['e3']]);
  });
}
