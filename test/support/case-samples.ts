/** Incidents as the service makes them, with only what a test is about spelled out. */
import type { Incident } from '../../src/incidents/rules/incident.ts';
import { wall } from './history-samples.ts';

export const incidentOf = (id: number, over: Partial<Incident> = {}): Incident => {
  const subject = { kind: 'component', name: 'api' } as const;
  return {
    id,
    fingerprint: `v1:${id}`,
    tasks: [],
    subject,
    subjects: [subject],
    title: 'api: ImportError: no module',
    rootCause: 'a module is missing',
    state: 'open',
    openedAt: wall(id * 1_000),
    lastAt: wall(id * 1_000),
    resolvedAt: null,
    count: 1,
    recent: [wall(id * 1_000)],
    affected: [],
    reopened: 0,
    ticket: null,
    waiting: ['component api'],
    counted: [],
    ...over,
  };
};
