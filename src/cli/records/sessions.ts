/** Sessions as the records on disk have them. Nobody looks at their containers, so their health is not known. */
import { findSession, MAX_ENDED } from '../../sessions/rules/find.ts';
import type { SessionRecord } from '../../sessions/spec.ts';
import { oneSessionView, sessionsView } from '../../sessions/rules/view.ts';
import type { History } from '../../supervision/ports/store.ts';
import type { Records } from './records.ts';

const unseen = (record: SessionRecord): SessionRecord =>
  record.state === 'ended'
    ? record
    : { ...record, health: { status: 'unknown', reason: 'not checked: the daemon was not asked' } };

export const sessionRecords = (history: History): Pick<Records, 'sessions' | 'session'> => ({
  sessions: async ({ user, all = false }) => {
    const whose = user === undefined ? {} : { user };
    const ended = all ? history.sessions({ which: 'ended', limit: MAX_ENDED, ...whose }) : [];
    const open = history.sessions({ which: 'open', limit: 0, ...whose });
    return sessionsView([...open.map(unseen), ...ended].sort((a, b) => a.lease.createdAt - b.lease.createdAt));
  },
  session: async (id) => {
    const record = findSession(id, history.sessions({ which: 'open', limit: 0 }), {
      find: (exactly) => history.session(exactly),
      ended: ({ limit }) => history.sessions({ which: 'ended', limit }),
    });
    return oneSessionView(unseen(record));
  },
});
