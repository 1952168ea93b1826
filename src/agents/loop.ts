/** Watches the loop that spawns agents: files the ticket of a freeze at once, and alerts people when the restart did not help. */
import type { Runtime } from '../base/runtime.ts';
import type { Store } from '../history/ports.ts';
import type { AlertService } from '../incidents/alerts/ports.ts';
import { type Incidents, incidentKey, loopFreezeKey } from '../incidents/ports.ts';
import type { ProblemEvidence } from '../incidents/tickets/rules/evidence.ts';
import { isSimulated, SIMULATED_TITLE } from '../supervision/rules/simulation.ts';
import { freezeFingerprint } from '../supervision/rules/unwell.ts';
import type { ComponentView, EventView, Subject } from '../supervision/rules/views.ts';
import type { LoopFindings, PassPart } from './ports.ts';
import {
  describeLoop,
  isResponsive,
  type LoopAction,
  type LoopObservation,
  lastSignMs,
  loopAction,
  type OpenFreeze,
} from './rules/loop.ts';
import { issueOf } from './rules/others-report.ts';
import { type AgentsSpec, NO_AGENTS } from './spec.ts';

export interface LoopParts extends Pick<Runtime, 'clock' | 'log'> {
  readonly store: Pick<Store, 'meta' | 'setMeta' | 'incident'>;
  readonly incidentService: Pick<Incidents, 'problem' | 'recovered'>;
  readonly alerts: Pick<AlertService, 'raise' | 'clear' | 'isOpen'>;
  /** Null: there is no such component (any more). */
  view(name: string): ComponentView | null;
  isObserved(name: string): boolean;
  /** After how long without a sign it is frozen, where components are not supervised; null: they are. */
  unsupervisedMs(name: string): number | null;
  /** How long ago the loop's heartbeat file was written, whoever wrote it in whichever run; null: it has none, or it cannot be read. */
  fileAgeMs(name: string): Promise<number | null>;
  /** Every event from now on; returns the function that ends it. */
  subscribe(listener: (event: EventView) => void): () => void;
}

const META = 'agents.loop';
const MS_PER_SECOND = 1_000;
/** Filing can lead to alerting at once, where nothing can be restarted. */
const ACTIONS_AT_ONCE = 2;
const NO_LOOP: LoopFindings = { responsive: null, lastPollAgeSeconds: null, issues: [], actions: [], bugs: [] };

export class LoopWatch implements PassPart<LoopFindings> {
  readonly #parts: LoopParts;
  #spec: AgentsSpec = NO_AGENTS;
  #open: OpenFreeze | null = null;
  /** What was done since the last report. */
  #actions: string[] = [];
  #bugs: number[] = [];
  readonly #unsubscribe: () => void;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#unsubscribe = parts.subscribe((event) => {
      if (event.subject.kind === 'component' && event.subject.name === this.#spec.loop) void this.#soon();
    });
  }

  use(spec: AgentsSpec): void {
    const before = this.#spec.loop;
    this.#spec = spec;
    if (before === spec.loop) return;
    if (before !== null && this.#open !== null) this.#parts.alerts.clear(loopFreezeKey(before));
    this.#open = spec.loop === null ? null : this.#recall(spec.loop);
  }

  async look(): Promise<LoopFindings> {
    await this.#soon();
    const name = this.#spec.loop;
    const observation = name === null ? null : await this.#observe(name);
    if (observation === null) return NO_LOOP;
    const [actions, bugs] = [this.#actions, this.#bugs];
    [this.#actions, this.#bugs] = [[], []];
    const open = this.#open;
    const ageMs = lastSignMs(open, observation);
    const told = open === null ? null : describeLoop(open, observation);
    return {
      responsive: isResponsive(open, observation),
      lastPollAgeSeconds: ageMs === null ? null : Math.round(ageMs / MS_PER_SECOND),
      issues:
        told === null || open === null
          ? []
          : [{ ...issueOf('orchestrator_frozen', null, told.error, told.action, open.ticket), at: open.at }],
      ...{ actions, bugs },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    await this.#last;
  }

  /** Not within the step that told the event: what is filed is a step of its own. One at a time. */
  #soon(): Promise<void> {
    const mine = this.#last.then(async () => {
      const name = this.#spec.loop;
      if (name === null || this.#isClosed) return;
      const observation = await this.#observe(name);
      for (let loopActions = 0; observation && loopActions < ACTIONS_AT_ONCE; loopActions += 1) {
        const action = loopAction(this.#open, observation);
        if (action === null || this.#isClosed) return;
        this.#do(name, action, observation);
      }
    });
    this.#last = mine.catch((error: unknown) => {
      this.#parts.log.error('the loop of agents could not be checked', { error: String(error) });
    });
    return this.#last as Promise<void>;
  }

  async #observe(name: string): Promise<LoopObservation | null> {
    const ageOfFile = await this.#parts.fileAgeMs(name);
    const view = this.#parts.view(name);
    if (view === null) return null;
    const beat = view.heartbeat?.last_beat_at ?? null;
    const ageOfBeat = beat === null ? null : Math.max(0, this.#parts.clock.wallNow() - Date.parse(beat));
    const ages = [ageOfFile, ageOfBeat].filter((age) => age !== null);
    const ageMs = ages.length === 0 ? null : Math.min(...ages);
    const limitMs = this.#parts.unsupervisedMs(name);
    // One that ended, as the records have it, after its last sign does not run: it is no frozen one.
    const endedAt = view.last_exit === null ? null : Date.parse(view.last_exit.at);
    const hasEnded = ageMs !== null && endedAt !== null && endedAt >= this.#parts.clock.wallNow() - ageMs;
    const isAlone = limitMs !== null && view.run_id === null && !hasEnded;
    return { view, ageMs, observed: this.#parts.isObserved(name), unsupervised: isAlone ? { limitMs } : null };
  }

  #do(name: string, action: LoopAction, { view }: LoopObservation): void {
    const { incidentService, alerts, clock } = this.#parts;
    const subject: Subject = { kind: 'component', name };
    switch (action.kind) {
      case 'file': {
        const problem: ProblemEvidence = {
          ...{ subject, fingerprint: freezeFingerprint(name), title: action.title, rootCause: action.rootCause },
          ...{ category: 'freeze', priority: 'critical', assignedTo: null, atOnce: true, evidence: action.evidence },
          reproduction: [
            `"keepwell status --verbose ${name}" says how long it has been silent.`,
            `"keepwell why ${name}" shows, once it was ended, what it was doing.`,
            `"keepwell simulate-crash --component ${name} --kind hang" makes it happen again.`,
          ],
          ...{ relatedFiles: [], run: view.run_id },
        };
        const { incident, ticket } = incidentService.problem(problem);
        const at = new Date(clock.wallNow()).toISOString();
        this.#keep(name, { run: view.run_id, at, incident, ticket, alert: null });
        this.#actions.push(`filed the freeze of ${name}`);
        if (ticket !== null) this.#bugs.push(ticket);
        break;
      }
      case 'alert': {
        const { incident, ticket } = this.#open!;
        const isAsked = incident !== null && isSimulated(this.#parts.store.incident(incident)?.rootCause ?? null);
        const text = `${isAsked ? SIMULATED_TITLE : ''}${action.text}`;
        this.#keep(name, { ...this.#open!, alert: text });
        // An incident has one alert: where its crashes have raised that already, these are its words from now on.
        const isRaised = incident !== null && alerts.isOpen(incidentKey(incident));
        const key = isRaised ? incidentKey(incident) : loopFreezeKey(name);
        alerts.raise({ kind: 'freeze', key, subject, text, incident, ticket });
        this.#actions.push(`alerted: ${text}`);
        break;
      }
      case 'over':
        if (action.well) incidentService.recovered(subject);
        alerts.clear(loopFreezeKey(name));
        this.#keep(name, null);
        this.#actions.push(action.well ? `${name} is making progress again` : `${name} was stopped`);
        break;
      default:
        throw new Error(`no such action: ${JSON.stringify(action satisfies never)}`);
    }
  }

  #keep(name: string, open: OpenFreeze | null): void {
    this.#open = open;
    this.#parts.store.setMeta(META, JSON.stringify({ name, open }));
  }

  /** Null: the last daemon knew of no freeze, or of one of another loop. */
  #recall(loop: string): OpenFreeze | null {
    try {
      const { name, open } = JSON.parse(this.#parts.store.meta(META) ?? '{}') as { name?: string; open?: OpenFreeze };
      return name === loop ? (open ?? null) : null;
    } catch {
      return null;
    }
  }
}
