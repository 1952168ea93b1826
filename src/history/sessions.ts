/** Sessions in memory: all that have not ended, and the newest of those that have. */
import type { SessionRecord } from '../sessions/spec.ts';
import type { SessionsQuery } from '../supervision/ports/store.ts';
import { atMost } from './views.ts';

const byTime = (a: SessionRecord, b: SessionRecord): number =>
  a.lease.createdAt - b.lease.createdAt || (a.id < b.id ? -1 : 1);

export class SessionTable {
  readonly #max: number;
  readonly #open = new Map<string, SessionRecord>();
  readonly #ended = new Map<string, SessionRecord>();

  constructor(max: number) {
    this.#max = max;
  }

  add(record: SessionRecord): void {
    this.#open.delete(record.id);
    this.#ended.delete(record.id);
    (record.state === 'ended' ? this.#ended : this.#open).set(record.id, record);
    if (this.#ended.size > this.#max) this.#ended.delete(this.#ended.keys().next().value!);
  }

  session(id: string): SessionRecord | null {
    return this.#open.get(id) ?? this.#ended.get(id) ?? null;
  }

  sessions({ which, user, limit }: SessionsQuery): readonly SessionRecord[] {
    const all = [...(which === 'open' ? this.#open : this.#ended).values()]
      .filter((record) => user === undefined || record.user === user)
      .sort(byTime);
    return which === 'open' ? all : all.reverse().slice(0, atMost(limit));
  }
}

/** `above` is newer: a session in it is not as it is in `below` any more. */
export function sessionsLaidOver(
  above: Pick<SessionTable, 'session' | 'sessions'>,
  below: Pick<SessionTable, 'sessions'>,
  query: SessionsQuery,
): readonly SessionRecord[] {
  const older = below.sessions(query).filter(({ id }) => above.session(id) === null);
  const all = [...above.sessions(query), ...older].sort(byTime);
  return query.which === 'open' ? all : all.reverse().slice(0, atMost(query.limit));
}
