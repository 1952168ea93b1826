/**
 * A component that listens on a port of this machine is not ready because somebody else answers there. Before its first pass counts, it
 * is looked who listens: a stranger is named, and for a while the answer is not taken. Our component may just be about to find out that
 * its port is taken. If it lives on, its probe is evidently meant for that other process, and counts.
 */

import type { RunId } from '../base/pure/ids.ts';
import type { Inquiry, Prober, ProbeTarget } from '../supervision/ports/prober.ts';
import {
  type Answer,
  type OwnPortKind,
  type ProbeQuestion,
  QUESTION_KINDS,
  type QuestionOf,
  ROLES,
} from '../supervision/rules/health/probe.ts';
import type { ComponentSpec } from '../supervision/spec.ts';

export interface PortParts {
  /** The processes of a run. */
  pidsOf(run: RunId): Promise<readonly number[]>;
  /** Does one of these listen on the port? */
  isHeldBy(port: number, pids: readonly number[]): boolean;
  /** Who listens there; null: nobody, or nobody who can be seen. 'not-yet': ask again with the same `looked`, which it fills. */
  holderOf(port: number, looked: Set<string>): { readonly pid: number; readonly name: string } | null | 'not-yet';
  /** Is it part of a run of ours, whichever? */
  isOfARun(pid: number): boolean;
  now(): number;
  warn(message: string, facts: Readonly<Record<string, unknown>>): void;
}

/** For so long a server gets to find out that its port is taken. */
const HOLD_MS = 10_000;
const LOCAL = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0|::)$/;
/** They listen for others: for containers, for services that are started when somebody calls. */
const FORWARDERS: ReadonlySet<string> = new Set([
  'systemd',
  'init',
  'docker-proxy',
  'rootlesskit',
  'rootlessport',
  'slirp4netns',
  'pasta',
  'conmon',
  'ssh',
  'sshd',
]);

export function ownPortProber(prober: Prober, parts: PortParts): Prober {
  return {
    describe: (...about) => prober.describe(...about),
    open: (question, target, onNews) => {
      const inquiry = prober.open(question, target, onNews);
      const ports = isAboutReadiness(question, target.spec) ? localPorts(question) : [];
      return ports.length === 0 ? inquiry : new OwnPortInquiry(inquiry, ports, target, parts);
    },
    watch: (...about) => prober.watch(...about),
  };
}

const isAboutReadiness = (question: ProbeQuestion, { driver, probes }: ComponentSpec): boolean =>
  driver.kind === 'process' && ROLES.some((role) => role !== 'liveness' && probes[role]?.question === question);

function localPorts(question: ProbeQuestion): readonly number[] {
  if (question.kind === 'all_of') return question.all.flatMap(localPorts);
  if (!QUESTION_KINDS[question.kind].asksOwnPort) return [];
  const { host, port } = question as QuestionOf<OwnPortKind>;
  return LOCAL.test(host) ? [port] : [];
}

class OwnPortInquiry implements Inquiry {
  readonly #inquiry: Inquiry;
  readonly #ports: readonly number[];
  readonly #target: ProbeTarget;
  readonly #parts: PortParts;
  readonly #until: number;
  readonly #looked = new Map<number, Set<string>>();
  #isDecided = false;

  constructor(inquiry: Inquiry, ports: readonly number[], target: ProbeTarget, parts: PortParts) {
    this.#inquiry = inquiry;
    this.#ports = ports;
    this.#target = target;
    this.#parts = parts;
    this.#until = parts.now() + HOLD_MS;
  }

  async ask(timeoutMs: number, signal: AbortSignal): Promise<Answer> {
    const answer = await this.#inquiry.ask(timeoutMs, signal);
    if (this.#isDecided || answer.outcome !== 'pass' || signal.aborted) return answer;
    let stranger: string | null;
    try {
      stranger = await this.#stranger();
    } catch {
      return answer; // no descriptor left to look with: nobody is accused, and the next time is soon
    }
    if (stranger !== null && this.#parts.now() < this.#until) return { outcome: 'inconclusive', message: stranger };
    this.#isDecided = true;
    if (stranger !== null) this.#parts.warn(stranger, { component: this.#target.spec.name, run: this.#target.run });
    return answer;
  }

  [Symbol.dispose](): void {
    this.#inquiry[Symbol.dispose]();
  }

  /** "port 4204 is held by python3 (pid 123), not by memcached"; null: it is ours, or nobody can say. */
  async #stranger(): Promise<string | null> {
    const { pidsOf, isHeldBy, holderOf, isOfARun } = this.#parts;
    const { spec, run } = this.#target;
    const own = await pidsOf(run);
    for (const port of this.#ports) {
      if (own.length === 0 || isHeldBy(port, own)) continue;
      const looked = this.#looked.get(port) ?? new Set<string>();
      this.#looked.set(port, looked);
      const holder = holderOf(port, looked);
      if (holder === 'not-yet') return `port ${port} is not held by ${spec.name}; looking who holds it`;
      this.#looked.delete(port); // from the beginning, the next time
      if (holder === null || own.includes(holder.pid)) continue;
      if (FORWARDERS.has(holder.name) || isOfARun(holder.pid)) continue;
      return `port ${port} is held by ${holder.name} (pid ${holder.pid}), not by ${spec.name}`;
    }
    return null;
  }
}
