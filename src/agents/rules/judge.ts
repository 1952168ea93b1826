/** What the end of an agent's run leads to. */
import { type ExitCause, exitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { after } from '../../base/pure/ids.ts';
import { delayMs } from '../../supervision/rules/restart/backoff.ts';
import type { AgentEndState, AgentRecord, Pause } from '../spec.ts';
import { type AgentContext, type AgentEffect, type AgentEnd, tell } from './step.ts';

export interface Verdict {
  readonly next: Pause | { readonly kind: AgentEndState };
  readonly end: Pick<AgentEnd, 'crash' | 'planned' | 'rule' | 'decision'>;
  /** The respawn it was; null: it does not say anything about it. */
  readonly helped: boolean | null;
  readonly effects: readonly AgentEffect[];
}

export function judge(record: AgentRecord, cause: ExitCause, context: AgentContext): Verdict {
  const { state } = record;
  if (state.kind === 'stopping') {
    const end = { crash: false, planned: true, rule: 'planned-stop', decision: 'it was asked to stop' } as const;
    return { next: state.after, end, helped: null, effects: [] };
  }
  if (cause.kind === 'code' && cause.code === 0) {
    const end = { crash: false, planned: false, rule: 'clean-exit', decision: 'its task is done' } as const;
    return { next: { kind: 'finished' }, end, helped: true, effects: [{ kind: 'recovered' }, tell('agent.finished')] };
  }
  const exit = exitView(cause);
  const helped = state.kind === 'running' && state.lived ? null : false;
  const { maxRespawns } = context;
  if (record.respawns.length >= maxRespawns) {
    const many = maxRespawns === 1 ? 'its one respawn is used up' : `its ${maxRespawns} respawns are used up`;
    const used = maxRespawns === 0 ? 'it is not to be respawned' : many;
    const end = { crash: true, planned: false, rule: 'limit', decision: `gave up: ${used}` } as const;
    return {
      next: { kind: 'gave-up' },
      end,
      helped,
      effects: [tell('agent.crashed', { exit }), tell('agent.gave-up')],
    };
  }
  const delay = delayMs(context.policy.backoff, record.respawns.length, context.random);
  const number = record.respawns.length + 1;
  const decision = `respawn in ${formatDuration(delay)} (${number} of ${maxRespawns})`;
  return {
    next: { kind: 'backing-off', until: after(context.now, delay), counts: true },
    end: { crash: true, planned: false, rule: 'backoff', decision },
    helped,
    effects: [tell('agent.crashed', { exit })],
  };
}
