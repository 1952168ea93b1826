/** Tells the rules of agents facts, one after the other, and remembers what they made of them. */

import { nextOfAgent } from '../../src/agents/rules/next.ts';
import { type AgentContext, type AgentEvent, type AgentStep, runOfAgent } from '../../src/agents/rules/step.ts';
import type { AgentRecord } from '../../src/agents/spec.ts';
import type { ExitCause } from '../../src/base/pure/exit.ts';
import type { MonoMs, RunId } from '../../src/base/pure/ids.ts';
import { agentContext, agentRecord } from './agent-samples.ts';

/** An agent that is told facts one after the other. */
export class AgentLife {
  record: AgentRecord = agentRecord();
  last: AgentStep | null = null;
  readonly crashes: string[] = [];
  readonly #more: Partial<AgentContext>;

  constructor(more: Partial<AgentContext> = {}) {
    this.#more = more;
  }

  get run(): RunId {
    return runOfAgent(this.record.state)!;
  }

  tell(ms: number, event: AgentEvent): this {
    this.last = nextOfAgent(this.record, event, agentContext(ms, this.#more));
    this.record = this.last.record;
    if (this.last.end?.crash) this.crashes.push(this.last.end.decision);
    return this;
  }

  started(ms: number): this {
    return this.tell(ms, { kind: 'started', run: this.run, pid: 100 + ms, at: ms as MonoMs });
  }

  exited(ms: number, cause: ExitCause = code(1), leftovers: readonly number[] = []): this {
    return this.tell(ms, { kind: 'exited', run: this.run, at: ms as MonoMs, cause, leftovers });
  }

  woke(ms: number): this {
    return this.tell(ms, { kind: 'woke' });
  }

  get effects(): readonly string[] {
    return (this.last?.effects ?? []).map((effect) => (effect.kind === 'tell' ? effect.type : effect.kind));
  }
}

export const code = (value: number): ExitCause => ({ kind: 'code', code: value, ambiguous: false });
