/** Everything that crashes is told to this one: it finds the incident and the ticket, before the crash is written. */
import { freezeFingerprint } from '../../core/agents/loop.ts';
import { shortHash } from '../../core/crash/hash.ts';
import type { Graph } from '../../core/graph.ts';
import type { WallMs } from '../../core/ids.ts';
import { firstSigns, rootOf } from '../../core/incidents/fold.ts';
import { type Incident, type IncidentsQuery, subjectKey } from '../../core/incidents/incident.ts';
import { alsoAffected, alsoKnownBy, foldedInto, recovered, type Trouble, troubled } from '../../core/incidents/next.ts';
import { shortTitle, titleOf } from '../../core/incidents/title.ts';
import { markSimulated } from '../../core/simulate/simulation.ts';
import type { ProblemEvidence } from '../../core/tickets/evidence.ts';
import type { Subject } from '../../core/views.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CaseNotes, Casework } from '../../ports/incidents.ts';
import type { Log } from '../../ports/log.ts';
import type { Commit, NewCrash, NewEvent, Store } from '../../ports/store.ts';
import { changeEvent, incidentEvent } from './events.ts';
import type { Filing } from './filing.ts';

export interface CaseworkParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly filing: Filing;
  /** Who depends on whom, now. */
  graph(): Graph;
  /** Writes to the history and tells those who listen. */
  commit(commit: Commit): void;
  /** After every crash, with what is open by then. */
  crashSeen(crash: NewCrash, incident: Incident): void;
  resolved(incident: Incident): void;
}

export interface DaemonCasework extends Casework {
  /** All that are open. */
  open(): Iterable<Incident>;
}

type Notes = { -readonly [K in keyof CaseNotes]: CaseNotes[K] };

const NOTHING: CaseNotes = { events: [] };

export function createCasework(parts: CaseworkParts): DaemonCasework {
  const { store, clock, log, filing, graph } = parts;
  const open = new Map<number, Incident>();
  for (const incident of store.incidents({ state: 'open', limit: Infinity })) open.set(incident.id, incident);

  const keep = (incident: Incident): Incident => {
    if (incident.state === 'open') open.set(incident.id, incident);
    else open.delete(incident.id);
    return incident;
  };

  function taken(crash: NewCrash): { crash: NewCrash; also: CaseNotes } {
    const trouble = partOfFreeze(crash) ?? troubleOf(crash);
    const own = store.incidentOf(trouble.fingerprint, trouble.taskId);
    // What was asked for has no other cause, whatever else is down.
    const root = crash.simulated === undefined ? rootOf(crash.subject, own, open.values(), graph()) : null;
    if (root !== null) return takenAlong(crash, trouble, root);
    const { incident: counted, change } = troubled(own, trouble, store.lastNumber('incident') + 1);
    // Counted when the freeze was noticed; but that the loop died of it, and maybe for good, is news.
    if (change === 'known' && crash.freeze && !store.run(crash.run)?.endedAt) parts.crashSeen(crash, counted);
    if (change === 'known') return { crash: { ...crash, incident: counted.id }, also: NOTHING };
    const signs = firstSigns(counted, crash.subject, open.values(), graph(), trouble.at);
    const affected = signs.flatMap(({ subjects }) => subjects.map(({ name }) => name));
    const named = { ...counted, affected: [...new Set([...counted.affected, ...affected])] };
    const { incident, tickets, events } = filing.after(named, { kind: 'crash', crash });
    keep(incident);
    const folded = signs.map((sign) => keep(foldedInto(sign, incident, trouble.at)));
    const told = folded.map((sign) => incidentEvent('incident.folded', sign, { into: incident.id }, trouble.at));
    parts.crashSeen(crash, incident);
    for (const sign of folded) parts.resolved(sign);
    const also: Notes = {
      incidents: [incident, ...folded],
      events: [...changeEvent(change, incident, trouble.at), ...told, ...events],
    };
    if (tickets.length > 0) also.tickets = tickets;
    return { crash: { ...crash, fingerprint: trouble.fingerprint, incident: incident.id }, also };
  }

  /** The end of a loop that is frozen has the cause of the freeze, and that is an incident already. Null: there is none open. */
  function partOfFreeze(crash: NewCrash): Trouble | null {
    const { subject, simulated, rootCause } = crash;
    if (!crash.freeze || subject.kind !== 'component') return null;
    const real = { fingerprint: freezeFingerprint(subject.name), rootCause };
    const { fingerprint } = simulated ? markSimulated(real, { ...simulated, memoryBytes: null }) : real;
    return store.incidentOf(fingerprint, null)?.state === 'open' ? { ...troubleOf(crash), fingerprint } : null;
  }

  function takenAlong(crash: NewCrash, trouble: Trouble, root: Incident): { crash: NewCrash; also: CaseNotes } {
    const incident = alsoAffected(root, trouble);
    const folded = { ...crash, fingerprint: trouble.fingerprint, incident: root.id };
    if (incident === root) return { crash: folded, also: NOTHING };
    keep(incident);
    parts.crashSeen(crash, incident);
    const isNews = incident.affected.length > root.affected.length;
    const data = { component: crash.subject.name };
    const events = isNews ? [incidentEvent('incident.affects', incident, data, trouble.at)] : [];
    return { crash: folded, also: { incidents: [incident], events } };
  }

  function well(subject: Subject, taskId: string | null): void {
    const at = clock.wallNow();
    for (const incident of [...open.values()]) {
      if (taskId !== null && incident.taskId !== taskId) continue;
      const after = recovered(incident, subject, at);
      if (after !== incident) settle(after, at);
    }
  }

  function settle(incident: Incident, at: WallMs): void {
    keep(incident);
    if (incident.state === 'open') {
      parts.commit({ incidents: [incident] });
      return;
    }
    const { tickets, events } = filing.recovered(incident);
    const resolved = incidentEvent('incident.resolved', incident, { count: incident.count }, at);
    parts.commit({ incidents: [incident], ...(tickets.length > 0 ? { tickets } : {}), events: [resolved, ...events] });
    parts.resolved(incident);
  }

  function reported(problem: ProblemEvidence): { incident: number; ticket: number | null } {
    const { subject, fingerprint, rootCause } = problem;
    const at = clock.wallNow();
    const own = store.incidentOf(fingerprint, null);
    const title = shortTitle(problem.title);
    const trouble = { ...{ fingerprint, subject, rootCause, title, at }, taskId: null, run: null };
    const { incident: counted, change } = troubled(own, trouble, store.lastNumber('incident') + 1);
    const known = problem.run ? alsoKnownBy(counted, subject, problem.run) : counted;
    const { incident, tickets, events } = filing.after(known, { kind: 'problem', problem });
    keep(incident);
    const told: readonly NewEvent[] = [...changeEvent(change, incident, at), ...events];
    parts.commit({ incidents: [incident], ...(tickets.length > 0 ? { tickets } : {}), events: told });
    return { incident: incident.id, ticket: incident.ticket };
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
    crashed: (crash) => quietly('of a crash', () => taken(crash), { crash, also: NOTHING }),
    recovered: (subject, taskId = null) => quietly('of a recovery', () => well(subject, taskId), undefined),
    problem: (problem) => quietly('of a problem', () => reported(problem), { incident: 0, ticket: null }),
    incidents: (query: IncidentsQuery) => store.incidents(query),
  };
}

function troubleOf(crash: NewCrash): Trouble {
  const { subject, run, at, rootCause, taskId = null } = crash;
  const fingerprint =
    crash.fingerprint ?? `v1:${shortHash(`end\n${subjectKey(subject)}\n${JSON.stringify(crash.exit)}`)}`;
  return { ...{ fingerprint, subject, run, at, rootCause, taskId }, title: titleOf(crash) };
}
