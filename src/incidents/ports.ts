/** What others may say and ask about incidents. A crash gets its incident where it is written down (`Recorder`). Nothing here blocks; only what people ask for throws. */
import type { Subject } from '../supervision/rules/views.ts';
import type { Incident, IncidentsQuery } from './rules/incident.ts';
import type { TellingVerdict, TrackerCall } from './rules/shared.ts';
import type { ProblemEvidence } from './tickets/rules/evidence.ts';

export interface Incidents {
  /** The subject is well again (component: healthy and past min_uptime; agent: finished with 0 or outlived min_uptime; session: healthy). */
  recovered(subject: Subject, taskId?: string | null): void;
  /** Writes the problem with its incident and its ticket. The same dedupe as for crashes. */
  problem(problem: ProblemEvidence): { readonly incident: number; readonly ticket: number | null };
  incidents(query: IncidentsQuery): readonly Incident[];
  /** Somebody is working on it, any number of times. Throws NO_SUCH_INCIDENT and INCIDENT_RESOLVED. */
  acknowledge(id: number): Incident;
  /** The problem is over on all hosts that share their memory: people are told so, once. */
  overEverywhere(fingerprint: string): void;
  /** Something beside the components is not well, or is well again: an incident without a ticket. */
  ailing(ailment: Ailment, isWell: boolean): void;
  /** No alerts about it for so long; 0: alerts again. Throws NO_SUCH_INCIDENT and INCIDENT_RESOLVED. */
  silence(id: number, forMs: number): Incident;
}

/** What is not well, and nobody crashed. */
export interface Ailment {
  readonly subject: Subject;
  readonly fingerprint: string;
  readonly title: string;
  readonly why: string;
}

/** What incidents are called in alerts. */
export const incidentKey = (id: number): string => `incident ${id}`;

/** What was given up without an incident of its own: that of what took it along is over, or the history is lost. */
export const givenUpKey = (component: string): string => `gave-up ${component}`;

/** What the freeze of the loop that spawns agents is called there. */
export const loopFreezeKey = (loop: string): string => `freeze:${loop}`;

/**
 * Hosts that share their memory: one of them tells people of a problem that several have. A host that shares with nobody, or has lost the
 * others for a while, is alone and tells everything itself.
 */
export interface SharedTelling {
  /** What messages call this host; null: there is no other to take it for. */
  name(): string | null;
  /** Who alerts people about an open incident; `unknown`: it is being found out. */
  alerter(fingerprint: string): 'us' | 'others' | 'unknown';
  /** The end of this incident is told later, by `overEverywhere`: it may go on elsewhere. */
  holdsBack(fingerprint: string): boolean;
  /** Asked before a tracker that hosts share is told. Null: `signal` came first. Never rejects. */
  mayTell(tracker: TrackerCall, signal: AbortSignal): Promise<TellingVerdict | null>;
}

export const ALONE: SharedTelling = {
  name: () => null,
  alerter: () => 'us',
  holdsBack: () => false,
  mayTell: async ({ id, address }) => ({ isOurs: true, id, address }),
};
