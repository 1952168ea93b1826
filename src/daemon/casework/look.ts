/**
 * Looks at how components stand, every few seconds: who is well again, who was given up. What people are told follows from that and
 * not from events, so nothing is missed when a daemon dies in between.
 */

import type { MonoMs } from '../../core/ids.ts';
import { crashRate, type SeenCrash, withinTheHour } from '../../core/incidents/crash-rate.ts';
import { type Incident, subjectKey } from '../../core/incidents/incident.ts';
import { SIMULATED_TITLE } from '../../core/simulate/simulation.ts';
import type { Subject } from '../../core/views.ts';
import type { Alert, AlertDesk } from '../../ports/alerts.ts';
import type { Clock } from '../../ports/clock.ts';
import type { NewCrash, Store } from '../../ports/store.ts';
import type { Standing } from '../../supervisor/standings.ts';
import type { DaemonCasework } from './casework.ts';
import { givenUpKey, incidentKey, loopFreezeKey, MAX_AFFECTED_NAMED } from './words.ts';

/** A component has recovered when it was well for so long, or longer if its min_uptime says so. */
export const STEADY_MS = 10_000;

export interface LookParts {
  readonly casework: Pick<DaemonCasework, 'open' | 'recovered'>;
  readonly alerts: AlertDesk;
  readonly clock: Clock;
  readonly store: Pick<Store, 'crashes' | 'incident' | 'why'>;
  standings(): readonly Standing[];
}

const RATE_KEY = 'crash-rate';
const HOUR_MS = 3_600_000;
const MAX_CRASHES = 1_000;

export class Look {
  readonly #parts: LookParts;
  #seen: readonly SeenCrash[];

  constructor(parts: LookParts) {
    this.#parts = parts;
    this.#seen = earlier(parts);
  }

  /** A crash was counted, or a dependent was taken along. */
  crashSeen(crash: NewCrash, incident: Incident): void {
    this.#seen = withinTheHour(
      [...this.#seen, { at: this.#parts.clock.now(), incident: incident.id }],
      this.#parts.clock.now(),
    );
    const isOwn = incident.waiting.includes(subjectKey(crash.subject));
    if (isOwn && this.#frozeAgain(crash) && !this.#isFreezeTold(crash.subject, incident))
      this.#raise(
        'freeze',
        incident,
        `${crash.simulated ? SIMULATED_TITLE : ''}${crash.subject.name} froze again after it was restarted`,
      );
  }

  now(): void {
    const standings = new Map(this.#parts.standings().map((standing) => [standing.name, standing]));
    this.#recoveries(standings);
    for (const standing of standings.values()) {
      if (standing.state === 'gave-up') this.#gaveUp(standing.name);
    }
    for (const { key, subject } of this.#parts.alerts.open()) {
      if (key === givenUpKey(subject.name) && hasRecovered(standings.get(subject.name))) this.#parts.alerts.clear(key);
    }
    this.#rate();
  }

  /** Resolved: nobody has to do anything about it any more. */
  resolved({ id }: Incident): void {
    const { alerts } = this.#parts;
    // People know of its crashes: they are no news when its alert is over.
    if (alerts.isOpen(incidentKey(id))) this.#seen = this.#seen.filter(({ incident }) => incident !== id);
    alerts.clear(incidentKey(id));
  }

  /** Its last end was a freeze as well, and it has not been well since. Neither end need have the same fingerprint. */
  #frozeAgain({ freeze, subject }: NewCrash): boolean {
    if (freeze === undefined) return false;
    const { store } = this.#parts;
    // This crash is not written yet: these are the last one, and its incident as it was left.
    const last = store.why({ subject: subject.name, kind: subject.kind });
    if (!last?.freeze || last.incident === null) return false;
    const before = store.incident(last.incident);
    return before?.state === 'open' && before.waiting.includes(subjectKey(subject));
  }

  /** By the watch over the loop of agents, or for another open incident of the same one. */
  #isFreezeTold(subject: Subject, { id }: Incident): boolean {
    const { alerts, casework } = this.#parts;
    if (alerts.isOpen(loopFreezeKey(subject.name))) return true;
    const key = subjectKey(subject);
    const others = [...casework.open()].filter((each) => each.id !== id && each.waiting.includes(key));
    return others.some((each) => alerts.isOpen(incidentKey(each.id)));
  }

  #recoveries(standings: ReadonlyMap<string, Standing>): void {
    const waiting = new Map<string, Subject>();
    for (const incident of this.#parts.casework.open()) {
      for (const subject of incident.subjects) {
        if (subject.kind === 'component' && incident.waiting.includes(subjectKey(subject)))
          waiting.set(subject.name, subject);
      }
    }
    for (const [name, subject] of waiting) {
      if (hasRecovered(standings.get(name))) this.#parts.casework.recovered(subject);
    }
  }

  #gaveUp(name: string): void {
    const incident = this.#incidentOf(name);
    if (incident === null) {
      const subject = { kind: 'component', name } as const;
      this.#parts.alerts.raise({
        ...{
          kind: 'gave-up',
          key: givenUpKey(name),
          subject,
          text: `${name} does not run: it is not restarted any more`,
        },
        ...{ incident: null, ticket: null },
      });
      return;
    }
    const isRoot = incident.subjects.some((subject) => subject.kind === 'component' && subject.name === name);
    // A dependent that was given up says nothing new about what people know already, only whose fault it is when they do not.
    if (isRoot || !this.#parts.alerts.isOpen(incidentKey(incident.id)))
      this.#raise(
        'gave-up',
        incident,
        isRoot
          ? `${name} does not run: it is not restarted any more`
          : `${rootsOf(incident)} is down and takes others along`,
      );
  }

  #incidentOf(name: string): Incident | null {
    const open = [...this.#parts.casework.open()];
    const key = subjectKey({ kind: 'component', name });
    return (
      open.find(({ waiting }) => waiting.includes(key)) ?? open.find(({ affected }) => affected.includes(name)) ?? null
    );
  }

  #rate(): void {
    const { alerts, clock, store, casework } = this.#parts;
    this.#seen = withinTheHour(this.#seen, clock.now());
    const find = (id: number) => store.incident(id);
    const found = crashRate(this.#seen, (id) => alerts.isOpen(incidentKey(id)), find);
    if (found === null) {
      if (alerts.isOpen(RATE_KEY)) alerts.clear(RATE_KEY);
      return;
    }
    const incident =
      found.incident === null ? null : ([...casework.open()].find(({ id }) => id === found.incident) ?? null);
    if (incident) this.#raise('crash-rate', incident, found.text);
    else if (!alerts.isOpen(RATE_KEY))
      alerts.raise({
        ...{ kind: 'crash-rate', key: RATE_KEY, text: found.text, incident: null, ticket: null },
        subject: { kind: 'daemon', name: 'keepwell' },
      });
  }

  #raise(kind: Alert['kind'], incident: Incident, what: string): void {
    const { id, subject, ticket, rootCause, title, affected } = incident;
    const cause = kind === 'crash-rate' ? '' : ` (${rootCause ?? title})`;
    const others = affected.slice(0, MAX_AFFECTED_NAMED).join(', ');
    const more = affected.length > MAX_AFFECTED_NAMED ? ` and ${affected.length - MAX_AFFECTED_NAMED} more` : '';
    const along = affected.length === 0 ? '' : `; affected: ${others}${more}`;
    this.#parts.alerts.raise({
      kind,
      key: incidentKey(id),
      subject,
      text: `${what}${cause}${along}`,
      incident: id,
      ticket,
    });
  }
}

/** Gone from the configuration is over as well. */
function hasRecovered(standing: Standing | undefined): boolean {
  if (standing === undefined || standing.state === 'completed') return true;
  return standing.isWell && standing.upMs >= Math.max(STEADY_MS, standing.minUptimeMs);
}

const rootsOf = ({ subjects }: Incident): string => subjects.map(({ name }) => name).join(', ');

/** What an earlier daemon saw within the hour. */
function earlier({ store, clock }: LookParts): readonly SeenCrash[] {
  const wall = clock.wallNow();
  const crashes = store.crashes({ since: (wall - HOUR_MS) as never, limit: MAX_CRASHES });
  return crashes
    .flatMap(({ at, incident }) => {
      const agoMs = Math.max(0, wall - Date.parse(at));
      return incident === null ? [] : [{ at: (clock.now() - agoMs) as MonoMs, incident }];
    })
    .reverse();
}
