/** Sessions as the records on disk have them. Nobody looks at their containers, so their health is not known. */
import type { History } from '../history/ports.ts';
import type { Sessions } from './ports.ts';
import { findSession, MAX_ENDED } from './rules/view.ts';
import type { SessionRecord } from './spec.ts';

const unseen = (record: SessionRecord): SessionRecord =>
  record.state === 'ended'
    ? record
    : { ...record, health: { status: 'unknown', reason: 'not checked: the daemon was not asked' } };

export const recordedSessions = (history: History): Pick<Sessions, 'get' | 'list'> => ({
  list: ({ user, all = false } = {}) => {
    const whose = user === undefined ? {} : { user };
    const ended = all ? history.sessions({ which: 'ended', limit: MAX_ENDED, ...whose }) : [];
    const open = history.sessions({ which: 'open', limit: 0, ...whose });
    return [...open.map(unseen), ...ended].sort((a, b) => a.lease.createdAt - b.lease.createdAt);
  },
  get: (id) => {
    const record = findSession(id, history.sessions({ which: 'open', limit: 0 }), {
      find: (exactly) => history.session(exactly),
      ended: ({ limit }) => history.sessions({ which: 'ended', limit }),
    });
    return unseen(record);
  },
});
