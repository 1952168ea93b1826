/** Incidents and tickets as they were written when each was about one task. */
import { expect, test } from 'vitest';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import { incidentOf } from '../../support/case-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { ticketSample } from '../../support/ticket-samples.ts';
import { openStore } from './open-store.ts';

test('a database with an incident and a ticket of one task each opens, and both are found by their fingerprint', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const subject = { kind: 'agent', name: 'architect' } as const;
  const incident = incidentOf(1, { subject, subjects: [subject], waiting: ['agent architect'] });
  const ticket = { ...ticketSample(), subject };
  {
    using opened = await openStore(path);
    opened.store.commit({ incidents: [incident], tickets: [ticket] });
  }
  const db = (await loadSqlite()).open(path, 'read-write');
  db.exec(`
    UPDATE incidents SET task_id = 'T-1', record_json = json_set(json_remove(record_json, '$.tasks'), '$.taskId', 'T-1');
    UPDATE tickets SET task_id = 'T-1', record_json = json_set(
      json_remove(record_json, '$.tasks', '$.subjects', '$.affected', '$.news', '$.steps'), '$.taskId', 'T-1');
  `);
  db.close();
  using opened = await openStore(path);
  const { store } = opened;
  expect(store.incidentOf(incident.fingerprint)).toEqual({
    ...incident,
    ...{ tasks: ['T-1'], waiting: ['agent architect T-1'] },
  });
  const { steps: _, ...old } = ticket;
  expect(store.ticketByFingerprint(ticket.fingerprint)).toEqual({ ...old, subjects: [subject], tasks: ['T-1'] });
});
