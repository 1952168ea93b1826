/**
 * Looks at how components stand, every few seconds: who is well again, who is not well, who was given up. What people are told follows
 * from that and not from events, so nothing is missed when a daemon dies in between.
 */

import type { Clock } from '../base/clock.ts';
import type { MonoMs } from '../base/pure/ids.ts';
import type { Store } from '../history/ports.ts';
import type { ComponentSnapshot } from '../supervision/component-snapshot.ts';
import { DAEMON } from '../supervision/event-bus.ts';
import type { NewCrash } from '../supervision/ports/store.ts';
import { SIMULATED_TITLE } from '../supervision/rules/simulation.ts';
import { UNWELL_AFTER_MS } from '../supervision/rules/unwell.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { Alert, AlertService } from './alerts/ports.ts';
import { givenUpKey, incidentKey, loopFreezeKey } from './ports.ts';
import { crashRate, type SeenCrash, withinTheHour } from './rules/crash-rate.ts';
import { type Incident, isAwaited, isSubjectOf, subjectKey } from './rules/incident.ts';
import { affectedText, givenUpText, notRestarted, whoOf } from './rules/words.ts';
import type { IncidentService } from './service.ts';

/** A component has recovered when it was well for so long, or longer if its min_uptime says so. */
export const STEADY_MS = 10_000;

export interface IncidentMonitorParts {
  readonly incidentService: Pick<IncidentService, 'open' | 'recovered' | 'unwanted' | 'unwell' | 'tellNews'>;
  readonly alerts: AlertService;
  readonly clock: Clock;
  readonly store: Pick<Store, 'crashes' | 'incident' | 'why'>;
  snapshots(): readonly ComponentSnapshot[];
}

type Snapshots = ReadonlyMap<string, ComponentSnapshot>;

const RATE_KEY = 'crash-rate';
const HOUR_MS = 3_600_000;
const MAX_CRASHES = 1_000;
const COMPONENT = 'component ';

export class IncidentMonitor {
  readonly #parts: IncidentMonitorParts;
  #seen: readonly SeenCrash[];
  /** Since when components are not well, as far as this daemon knows. */
  readonly #unwellSince = new Map<string, MonoMs>();

  constructor(parts: IncidentMonitorParts) {
    this.#parts = parts;
    this.#seen = earlier(parts);
  }

  /** A crash was counted, or a dependent was taken along. */
  crashSeen(crash: NewCrash, incident: Incident): void {
    this.#seen = withinTheHour(
      [...this.#seen, { at: this.#parts.clock.now(), incident: incident.id }],
      this.#parts.clock.now(),
    );
    const isOwn = isSubjectOf(incident, crash.subject);
    if (isOwn && crash.subject.kind !== 'session') this.#ended(crash, incident);
    if (isOwn && this.#frozeAgain(crash) && !this.#isFreezeTold(crash.subject, incident))
      this.#raise(
        'freeze',
        incident,
        `${crash.simulated ? SIMULATED_TITLE : ''}${crash.subject.name} froze again after it was restarted`,
      );
  }

  now(): void {
    const { incidentService, alerts } = this.#parts;
    const snapshots: Snapshots = new Map(this.#parts.snapshots().map((snapshot) => [snapshot.name, snapshot]));
    this.#recoveries(snapshots);
    this.#unwell(snapshots);
    this.#gaveUp(snapshots);
    this.#joined();
    for (const { key, subject } of alerts.open()) {
      if (key === givenUpKey(subject.name) && hasRecovered(snapshots.get(subject.name))) alerts.clear(key);
    }
    this.#rate();
    incidentService.tellNews();
  }

  /** Resolved: nobody has to do anything about it any more. */
  resolved({ id }: Incident): void {
    // People know of its crashes: they are no news when its alert is over.
    if (this.#isTold(id)) this.#seen = this.#seen.filter(({ incident }) => incident !== id);
    this.#parts.alerts.clear(incidentKey(id));
  }

  /** Under whichever key: the watch over the loop of agents has one of its own. */
  #isTold(id: number): boolean {
    return this.#parts.alerts.open().some(({ incident }) => incident === id);
  }

  #isToldElsewhere(id: number): boolean {
    return this.#parts.alerts.open().some(({ incident, key }) => incident === id && key !== incidentKey(id));
  }

  /** Its last end was a freeze as well, and it has not been well since. Neither end need have the same fingerprint. */
  #frozeAgain({ freeze, subject }: NewCrash): boolean {
    if (freeze === undefined || freeze.timeout) return false;
    const { store } = this.#parts;
    // This crash is not written yet: these are the last one, and its incident as it was left.
    const last = store.why({ subject: subject.name, kind: subject.kind });
    if (!last?.freeze || last.freeze.timeout || last.incident === null) return false;
    const before = store.incident(last.incident);
    return before !== null && isAwaited(before, subject);
  }

  /** By the watch over the loop of agents, or for another open incident of the same one. */
  #isFreezeTold(subject: Subject, { id }: Incident): boolean {
    const { alerts, incidentService } = this.#parts;
    if (alerts.isOpen(loopFreezeKey(subject.name))) return true;
    const key = subjectKey(subject);
    const others = [...incidentService.open()].filter((each) => each.id !== id && each.waiting.includes(key));
    return others.some((each) => alerts.isOpen(incidentKey(each.id)));
  }

  #recoveries(snapshots: Snapshots): void {
    const { incidentService } = this.#parts;
    const waiting = new Set<string>();
    for (const incident of incidentService.open()) {
      for (const key of incident.waiting) if (key.startsWith(COMPONENT)) waiting.add(key.slice(COMPONENT.length));
    }
    for (const name of waiting) {
      const subject = { kind: 'component', name } as const;
      const snapshot = snapshots.get(name);
      if (hasRecovered(snapshot)) incidentService.recovered(subject);
      else if (!snapshot?.isWanted) incidentService.unwanted(subject);
    }
  }

  #unwell(snapshots: Snapshots): void {
    const now = this.#parts.clock.now();
    for (const name of this.#unwellSince.keys()) {
      if (!snapshots.get(name)?.unwell) this.#unwellSince.delete(name);
    }
    const lasting = [...snapshots.values()].flatMap(({ name, unwell }) => {
      if (unwell === null) return [];
      const since = this.#unwellSince.get(name) ?? now;
      this.#unwellSince.set(name, since);
      return now - since >= UNWELL_AFTER_MS ? [unwell] : [];
    });
    if (lasting.length > 0) this.#parts.incidentService.unwell(lasting);
    for (const incident of this.#parts.incidentService.open()) {
      if (incident.unwell === true && !this.#isToldElsewhere(incident.id))
        this.#raise('unhealthy', incident, incident.title);
    }
  }

  /** Its first crash is news, and so is the first after it was well for a while. */
  #ended({ subject, exit, simulated }: NewCrash, incident: Incident): void {
    const mark = simulated ? SIMULATED_TITLE : '';
    const again = incident.reopened > 0 ? ' again' : '';
    const [kind, what] =
      exit.unhealthy === null
        ? (['crash', `${subject.name} crashed${again}`] as const)
        : (['unhealthy', `${subject.name} is unhealthy${again}`] as const);
    if (!this.#isToldElsewhere(incident.id)) this.#raise(kind, incident, `${mark}${what}`);
  }

  #gaveUp(snapshots: Snapshots): void {
    const { alerts, incidentService } = this.#parts;
    const names = [...snapshots.values()].filter(({ state }) => state === 'gave-up').map(({ name }) => name);
    if (names.length === 0) return;
    const untold = new Set(names.filter((name) => !alerts.isOpen(givenUpKey(name))));
    const left = new Set(untold);
    for (const incident of incidentService.open()) {
      const givenUp = new Set([...untold].filter((name) => incident.waiting.includes(COMPONENT + name)));
      for (const name of givenUp) left.delete(name);
      const text = givenUpText(incident, givenUp);
      if (text !== null && !this.#isToldElsewhere(incident.id)) this.#raise('gave-up', incident, text, [...givenUp]);
    }
    for (const name of left) {
      const about = { kind: 'gave-up', key: givenUpKey(name), subject: { kind: 'component', name } } as const;
      alerts.raise({ ...about, text: notRestarted([name]), incident: null, ticket: null });
    }
  }

  /** Who joined an incident that people know of is named to them, too. */
  #joined(): void {
    const open = new Map(
      [...this.#parts.incidentService.open()].map((incident) => [incidentKey(incident.id), incident]),
    );
    for (const { key, kind, what, givenUp } of this.#parts.alerts.open()) {
      const incident = open.get(key);
      if (incident !== undefined && what !== undefined) this.#raise(kind, incident, what, givenUp);
    }
  }

  #rate(): void {
    const { alerts, clock, store, incidentService } = this.#parts;
    this.#seen = withinTheHour(this.#seen, clock.now());
    const found = crashRate(
      this.#seen,
      (id) => alerts.knows(id, 'crash-rate'),
      (id) => store.incident(id),
    );
    if (found === null) {
      if (alerts.isOpen(RATE_KEY)) alerts.clear(RATE_KEY);
      return;
    }
    const incident =
      found.incident === null ? null : ([...incidentService.open()].find(({ id }) => id === found.incident) ?? null);
    if (incident) this.#raise('crash-rate', incident, found.text);
    else if (!alerts.isOpen(RATE_KEY))
      alerts.raise({
        ...{ kind: 'crash-rate', key: RATE_KEY, text: found.text, incident: null, ticket: null },
        subject: DAEMON,
      });
  }

  #raise(kind: Alert['kind'], incident: Incident, what: string, givenUp: readonly string[] = []): void {
    const { id, subject, ticket, rootCause, title } = incident;
    const cause = kind === 'crash-rate' || what === title ? '' : ` (${rootCause ?? title})`;
    const about = { kind, key: incidentKey(id), subject, what, who: whoOf(incident), givenUp, incident: id, ticket };
    this.#parts.alerts.raise({ ...about, text: `${what}${cause}${affectedText(incident)}` });
  }
}

/** Gone from the configuration is over as well. */
function hasRecovered(snapshot: ComponentSnapshot | undefined): boolean {
  if (snapshot === undefined || snapshot.state === 'completed') return true;
  return snapshot.isWell && snapshot.upMs >= Math.max(STEADY_MS, snapshot.minUptimeMs);
}

/** What an earlier daemon saw within the hour. */
function earlier({ store, clock }: IncidentMonitorParts): readonly SeenCrash[] {
  const wall = clock.wallNow();
  const crashes = store.crashes({ since: (wall - HOUR_MS) as never, limit: MAX_CRASHES });
  return crashes
    .flatMap(({ at, incident }) => {
      const agoMs = Math.max(0, wall - Date.parse(at));
      return incident === null ? [] : [{ at: (clock.now() - agoMs) as MonoMs, incident }];
    })
    .reverse();
}
