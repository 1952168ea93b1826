/** The one way from a crash to its incident: whatever is written down comes by here first, and a crash goes on with its incident and its ticket. */
import { AppError } from '../base/pure/errors.ts';
import type { RunId, WallMs } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Commit, Store } from '../history/ports.ts';
import type { NewCrash, NewEvent } from '../supervision/ports/store.ts';
import { type Graph, startOrder } from '../supervision/rules/graph.ts';
import { markSimulated, type Simulated } from '../supervision/rules/simulation.ts';
import { type Unwell, unwellFingerprint } from '../supervision/rules/unwell.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { Filed, Filing } from './filing.ts';
import type { Ailment, Incidents, SharedTelling } from './ports.ts';
import { firstSigns, isKilledByOthers, outageOf, rootOf } from './rules/fold.ts';
import { type Incident, type IncidentsQuery, isAwaited, isSubjectOf } from './rules/incident.ts';
import {
  acknowledged,
  alsoAffected,
  alsoKnownBy,
  fingerprintOf,
  foldedInto,
  type IncidentChange,
  recovered,
  shortTitle,
  silenced,
  type Trouble,
  titleOf,
  troubled,
  unwanted,
} from './rules/next.ts';
import type { ProblemEvidence } from './tickets/rules/evidence.ts';

export interface IncidentServiceParts extends Pick<Runtime, 'clock' | 'log'> {
  readonly store: Store;
  readonly filing: Filing;
  readonly shared: Pick<SharedTelling, 'holdsBack'>;
  /** Who depends on whom, now. */
  graph(): Graph;
  /** Somebody asked for what happened to this run or task then; null: nobody did. */
  simulated(crash: Pick<NewCrash, 'run' | 'at' | 'taskId'>): Simulated | null;
  /** Writes to the history, all of them together, and tells those who listen. */
  commit(...commits: readonly Commit[]): void;
  /** After every crash, with what is open by then. */
  crashSeen(crash: NewCrash, incident: Incident): void;
  resolved(incident: Incident): void;
  /** Somebody takes care of it, or does not want to hear of it for a while. */
  handled(incident: Incident): void;
}

export interface IncidentService extends Incidents {
  /** What is to be written, with the incident of its crash, the ticket, and what is told about them. It must be written at once. */
  noted(step: Commit): Commit;
  /** All that are open. */
  open(): Iterable<Incident>;
  /** All that have not been well for a while: what has no incident yet gets one, or is named in that of its cause. */
  unwell(all: readonly Unwell[]): void;
  /** Somebody stopped it by hand. */
  unwanted(subject: Subject): void;
  /** Tells trackers who joined a ticket lately, when they may be told. */
  tellNews(): void;
}

/** What is written in the same commit as the crash. */
type CaseNotes = Pick<Commit, 'incidents' | 'tickets'> & { readonly events: readonly NewEvent[] };
type Notes = { -readonly [K in keyof CaseNotes]: CaseNotes[K] };

const NOTHING: CaseNotes = { events: [] };

/** Incidents that are over at the same moment. */
const WRITTEN_TOGETHER = 500;

/** How many of these each ticket is that of. */
function countByTicket(incidents: Iterable<Incident>): Map<number | null, number> {
  const counts = new Map<number | null, number>();
  for (const { ticket } of incidents) counts.set(ticket, (counts.get(ticket) ?? 0) + 1);
  return counts;
}

export function createIncidentService(parts: IncidentServiceParts): IncidentService {
  const { store, clock, log, filing, graph } = parts;
  const open = new Map<number, Incident>();
  for (const incident of store.incidents({ state: 'open', limit: Infinity })) open.set(incident.id, incident);

  const keep = (incident: Incident): Incident => {
    if (incident.state === 'open') open.set(incident.id, incident);
    else open.delete(incident.id);
    return incident;
  };

  function taken(crash: NewCrash): { crash: NewCrash; also: CaseNotes } {
    const trouble = troubleOf(crash);
    const own = store.incidentOf(trouble.fingerprint);
    // What was asked for has no other cause, whatever else is down.
    const isAsked = crash.simulated !== undefined;
    const root = isAsked || isKilledByOthers(crash.exit) ? null : rootOf(crash.subject, own, open.values(), graph());
    if (root !== null) return takenAlong(crash, trouble, root);
    const outage = isAsked || own?.state === 'open' ? null : outageOf(crash, open.values());
    const { incident: counted, change } = troubled(outage ?? own, trouble, store.lastNumber('incident') + 1);
    if (change === 'known') return endOfKnown(crash, counted);
    const signs = firstSigns(counted, crash.subject, open.values(), graph(), trouble.at);
    const named = signs.flatMap(({ subjects }) => subjects).reduce(withDependent(crash.subject), counted);
    const { incident, tickets, events } = filing.after(named, { kind: 'crash', crash });
    keep(incident);
    const folded = signs.map((sign) => keep(foldedInto(sign, incident, trouble.at)));
    const told = folded.map((sign) => incidentEvent('incident.folded', sign, { into: incident.id }, trouble.at));
    parts.crashSeen(crash, incident);
    for (const sign of folded) parts.resolved(sign);
    const also = notesOf({
      incident,
      tickets,
      events: [...changeEvent(change, incident, trouble.at), ...told, ...events],
    });
    also.incidents = [incident, ...folded];
    return { crash: { ...crash, fingerprint: trouble.fingerprint, incident: incident.id }, also };
  }

  /** Counted when it was noticed. That it died of it, and maybe for good, is news; and so is what it was doing. */
  function endOfKnown(crash: NewCrash, known: Incident): { crash: NewCrash; also: CaseNotes } {
    const isSeen = crash.freeze === undefined || store.run(crash.run)?.endedAt;
    if (isSeen) return { crash: { ...crash, incident: known.id }, also: NOTHING };
    const filed = filing.examined(known, crash);
    parts.crashSeen(crash, filed.incident);
    return { crash: { ...crash, incident: known.id }, also: filed.tickets.length > 0 ? notesOf(filed) : NOTHING };
  }

  function troubleOf(crash: NewCrash): Trouble {
    const { subject, run, at, rootCause, taskId = null } = crash;
    const fingerprint = fingerprintOf(crash, (freeze) => store.incidentOf(freeze)?.state === 'open');
    return { ...{ fingerprint, subject, run, at, rootCause, taskId }, title: titleOf(crash) };
  }

  function takenAlong(crash: NewCrash, trouble: Trouble, root: Incident): { crash: NewCrash; also: CaseNotes } {
    const folded = { ...crash, fingerprint: trouble.fingerprint, incident: root.id };
    const incident = alsoAffected(root, trouble);
    if (incident === root) return { crash: folded, also: NOTHING };
    const filed = affects(root, incident, crash.subject, trouble.at);
    parts.crashSeen(crash, filed.incident);
    return { crash: folded, also: notesOf(filed) };
  }

  /** The incident names one more. */
  function affects(before: Incident, after: Incident, subject: Subject, at: WallMs): Filed {
    const filed = filing.joined(after);
    keep(filed.incident);
    const isNews = after.affected.length > before.affected.length;
    const told = isNews ? [incidentEvent('incident.affects', after, { component: subject.name }, at)] : [];
    return { ...filed, events: [...told, ...filed.events] };
  }

  function well(subject: Subject, taskId: string | null): void {
    settleAll((incident, at) => recovered(incident, subject, taskId, at));
  }

  function settleAll(next: (incident: Incident, at: WallMs) => Incident): void {
    const now = clock.wallNow();
    const changed = [...open.values()].flatMap((incident) => {
      const after = next(incident, now);
      return after === incident ? [] : [after];
    });
    const openByTicket = countByTicket(open.values());
    const commits = changed.map((incident) => {
      keep(incident);
      if (incident.state === 'open') return notesOf({ incident, tickets: [], events: [] });
      const others = (openByTicket.get(incident.ticket) ?? 1) - 1;
      openByTicket.set(incident.ticket, others);
      // A ticket may be that of several: all of them have to be over.
      const isTicketOpen = incident.ticket !== null && (others > 0 || parts.shared.holdsBack(incident.fingerprint));
      const { tickets, events } = isTicketOpen ? { tickets: [], events: [] } : filing.recovered(incident);
      const resolved = incidentEvent('incident.resolved', incident, { count: incident.count }, now);
      return notesOf({ incident, tickets, events: [resolved, ...events] });
    });
    // Many are written together: one transaction each would hold up everything when thousands are over at once.
    for (let at = 0; at < commits.length; at += WRITTEN_TOGETHER)
      parts.commit(...commits.slice(at, at + WRITTEN_TOGETHER));
    for (const incident of changed)
      if (incident.state !== 'open' && !parts.shared.holdsBack(incident.fingerprint)) parts.resolved(incident);
  }

  /** Said once: a ticket knows what was said last, and an alert that is over is gone. */
  function overEverywhere(fingerprint: string): void {
    const incident = store.incidentOf(fingerprint);
    if (incident === null || incident.state === 'open') return;
    if ((countByTicket(open.values()).get(incident.ticket) ?? 0) === 0) {
      const { tickets, events } = filing.recovered(incident);
      if (tickets.length > 0) parts.commit({ tickets, events });
    }
    parts.resolved(incident);
  }

  function ailing({ subject, fingerprint, title, why }: Ailment, isWell: boolean): void {
    const known = store.incidentOf(fingerprint);
    if (isWell) {
      if (known?.state === 'open')
        settleAll((one, at) => (one.id === known.id ? recovered(one, subject, null, at) : one));
    } else if (known?.state !== 'open') {
      const at = clock.wallNow();
      const trouble: Trouble = {
        ...{ fingerprint, subject, at, rootCause: why, taskId: null, run: null, unwell: true },
        title: shortTitle(title),
      };
      const { incident, change } = troubled(known, trouble, store.lastNumber('incident') + 1);
      keep(incident);
      parts.commit({ incidents: [incident], events: changeEvent(change, incident, at) });
    }
  }

  function noted(step: Commit): Commit {
    if (step.crash === undefined) return step;
    const asIs = { crash: step.crash, also: NOTHING };
    const { crash, also } = quietly('of a crash', () => taken(marked(asIs.crash)), asIs);
    return { ...step, ...also, crash, events: [...(step.events ?? []), ...also.events] };
  }

  /** What somebody asked for is marked as that, here and nowhere else. */
  function marked(crash: NewCrash): NewCrash {
    const asked = parts.simulated(crash);
    return asked === null ? crash : markSimulated(crash, asked);
  }

  function reported(found: ProblemEvidence): { incident: number; ticket: number | null } {
    const at = clock.wallNow();
    const asked = found.run ? parts.simulated({ run: found.run as RunId, at }) : null;
    const problem = asked === null ? found : markSimulated(found, asked);
    const { subject, fingerprint, rootCause } = problem;
    const title = shortTitle(problem.title);
    const trouble = { ...{ fingerprint, subject, rootCause, title, at }, taskId: null, run: null };
    const own = store.incidentOf(fingerprint);
    const { incident: counted, change } = troubled(own, trouble, store.lastNumber('incident') + 1);
    const known = problem.run ? alsoKnownBy(counted, subject, problem.run) : counted;
    const { incident, tickets, events } = filing.after(known, { kind: 'problem', problem });
    keep(incident);
    const told: readonly NewEvent[] = [...changeEvent(change, incident, at), ...events];
    parts.commit(notesOf({ incident, tickets, events: told }));
    return { incident: incident.id, ticket: incident.ticket };
  }

  /** What is down because of others comes after them: by then they have their incident. */
  function lookAt(all: readonly Unwell[]): void {
    const byName = new Map(all.map((each) => [each.name, each]));
    for (const name of startOrder(graph())) {
      const each = byName.get(name);
      if (each !== undefined) place(each, clock.wallNow());
    }
  }

  function place(unwell: Unwell, at: WallMs): void {
    const subject: Subject = { kind: 'component', name: unwell.name };
    const known = [...open.values()].filter((incident) => isAwaited(incident, subject));
    if (known.some((incident) => isSubjectOf(incident, subject))) return;
    // An Engine that does not answer is the cause for each of its containers.
    const root = unwell.kind === 'unreachable' ? null : rootOf(subject, null, open.values(), graph());
    if (root !== null) {
      const incident = alsoAffected(root, { subject, run: null });
      if (incident !== root) parts.commit(notesOf(affects(root, incident, subject, at)));
    } else if (known.length === 0) opens(unwell, subject, at);
  }

  function opens(unwell: Unwell, subject: Subject, at: WallMs): void {
    const fingerprint = unwellFingerprint(unwell);
    const title = shortTitle(unwell.title);
    const trouble: Trouble = {
      ...{ fingerprint, subject, title, at, rootCause: unwell.why, taskId: null, run: null, unwell: true },
    };
    const { incident, change } = troubled(store.incidentOf(fingerprint), trouble, store.lastNumber('incident') + 1);
    keep(incident);
    parts.commit({ incidents: [incident], events: changeEvent(change, incident, at) });
  }

  function openOne(id: number): Incident {
    const found = open.get(id);
    if (found !== undefined) return found;
    throw new AppError(store.incident(id) === null ? 'NO_SUCH_INCIDENT' : 'INCIDENT_RESOLVED', { incident: id });
  }

  function handle(incident: Incident, event: NewEvent): Incident {
    keep(incident);
    parts.commit({ incidents: [incident], events: [event] });
    parts.handled(incident);
    return incident;
  }

  function acknowledge(id: number): Incident {
    const before = openOne(id);
    const at = clock.wallNow();
    const incident = acknowledged(before, at);
    return incident === before ? before : handle(incident, incidentEvent('incident.acknowledged', incident, {}, at));
  }

  function silence(id: number, forMs: number): Incident {
    const at = clock.wallNow();
    const until = forMs > 0 ? ((at + forMs) as WallMs) : null;
    const incident = silenced(openOne(id), until);
    const told = { until: until === null ? null : new Date(until).toISOString() };
    return handle(incident, incidentEvent('incident.silenced', incident, told, at));
  }

  /** Supervision goes on whatever happens here. */
  function quietly<T>(what: string, work: () => T, otherwise: T): T {
    try {
      return work();
    } catch (error) {
      log.error(`an incident could not be kept: ${what}`, { error: String(error) });
      return otherwise;
    }
  }

  return {
    open: () => open.values(),
    noted,
    recovered: (subject, taskId = null) => quietly('of a recovery', () => well(subject, taskId), undefined),
    unwanted: (subject) =>
      quietly('of a stop', () => settleAll((incident, at) => unwanted(incident, subject, at)), undefined),
    unwell: (all) => quietly('of what is not well', () => lookAt(all), undefined),
    tellNews: () =>
      quietly(
        'of who joined',
        () => {
          for (const { tickets, events } of filing.news()) parts.commit({ tickets, events });
        },
        undefined,
      ),
    overEverywhere: (fingerprint) => quietly('of a recovery everywhere', () => overEverywhere(fingerprint), undefined),
    ailing: (ailment, isWell) => quietly('of what ails', () => ailing(ailment, isWell), undefined),
    problem: (problem) => quietly('of a problem', () => reported(problem), { incident: 0, ticket: null }),
    incidents: (query: IncidentsQuery) => store.incidents(query),
    acknowledge,
    silence,
  };
}

/** A dependent that noticed first is affected; that the subject itself was not well is no other one. */
const withDependent =
  (root: Subject) =>
  (incident: Incident, subject: Subject): Incident =>
    subject.name === root.name ? incident : alsoAffected(incident, { subject, run: null });

function notesOf({ incident, tickets, events }: Filed): Notes {
  return { incidents: [incident], ...(tickets.length > 0 ? { tickets } : {}), events };
}

// What is told about incidents.

type IncidentEventType =
  | 'incident.opened'
  | 'incident.reopened'
  | 'incident.resolved'
  | 'incident.affects'
  | 'incident.folded'
  | 'incident.acknowledged'
  | 'incident.silenced';

export const incidentEvent = (
  type: IncidentEventType,
  { id, subject, title }: Incident,
  data: Readonly<Record<string, unknown>>,
  at: WallMs,
): NewEvent => ({ at, subject, type, run: null, data: { incident: id, title, ...data } });

export function changeEvent(change: IncidentChange, incident: Incident, at: WallMs): readonly NewEvent[] {
  const { rootCause: root_cause, fingerprint, count, reopened } = incident;
  if (change === 'opened') return [incidentEvent('incident.opened', incident, { root_cause, fingerprint }, at)];
  return change === 'reopened' ? [incidentEvent('incident.reopened', incident, { count, reopened }, at)] : [];
}
