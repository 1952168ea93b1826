/** Sessions as the records on disk have them. Nobody looks at their containers, so their health is not known. */
import { AppError } from '../../core/errors.ts';
import type { SessionRecord } from '../../core/sessions/session.ts';
import { oneSessionView, sessionsView } from '../../core/sessions/view.ts';
import type { History } from '../../ports/store.ts';
import type { Records } from './records.ts';

const MAX_ENDED = 1_000;
const MIN_BEGINNING = 4;

const unseen = (record: SessionRecord): SessionRecord =>
  record.state === 'ended'
    ? record
    : { ...record, health: { status: 'unknown', reason: 'nobody looks at it: the daemon was not asked' } };

export const sessionRecords = (history: History): Pick<Records, 'sessions' | 'session'> => ({
  sessions: async ({ user, all = false }) => {
    const whose = user === undefined ? {} : { user };
    const ended = all ? history.sessions({ which: 'ended', limit: MAX_ENDED, ...whose }) : [];
    const open = history.sessions({ which: 'open', limit: 0, ...whose });
    return sessionsView([...open.map(unseen), ...ended].sort((a, b) => a.lease.createdAt - b.lease.createdAt));
  },
  session: async (id) => {
    const records = [
      ...history.sessions({ which: 'open', limit: 0 }),
      ...history.sessions({ which: 'ended', limit: MAX_ENDED }),
    ];
    const found = records.filter((record) => id.length >= MIN_BEGINNING && record.id.startsWith(id));
    const record = found.find((each) => each.id === id) ?? found[0];
    if (!record) throw new AppError('NO_SUCH_SESSION', { id: id.slice(0, 100) });
    const isOne = found.length === 1 || record.id === id;
    if (!isOne) throw new AppError('SESSION_ID_AMBIGUOUS', { id, sessions: found.map((each) => each.id).join(', ') });
    return oneSessionView(unseen(record));
  },
});
