/** Restarts one container: looks before and after, so that nothing is restarted that has changed meanwhile. */
import type { PatientEvent, Trial } from './rules/state.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deed, EngineClient } from '../ports.ts';
import { sightOf } from './observe.ts';

export interface RestartOrder {
  readonly id: string;
  readonly startedAt: string;
  readonly graceMs: number;
}

export async function restart(
  { engine, clock }: { readonly engine: EngineClient; readonly clock: Clock },
  { id, startedAt, graceMs }: RestartOrder,
  signal: AbortSignal,
): Promise<PatientEvent> {
  const before = await engine.inspect(id, signal);
  if (before.kind === 'unreachable') return tried({ kind: 'not-its-fault', why: before.why }, null);
  const found = sightOf(before, clock.wallNow());
  if (found === null) return { kind: 'missing' };
  const isWell = found.phase === 'running' && found.health.status === 'healthy';
  if (found.startedAt !== startedAt || found.phase === 'paused' || isWell) return { kind: 'called-off', sight: found };
  const deed = await engine.restart(id, graceMs, signal);
  // Also after a deadline: the Engine goes on by itself, and may well have done it.
  const after = await engine.inspect(id, signal);
  if (after.kind === 'unreachable') return tried(trialOf(deed), null);
  const sight = sightOf(after, clock.wallNow());
  return sight === null ? { kind: 'missing' } : tried(trialOf(deed), sight);
}

const tried = (trial: Trial, sight: Extract<PatientEvent, { kind: 'tried' }>['sight']): PatientEvent => ({
  kind: 'tried',
  trial,
  sight,
});

function trialOf(deed: Deed): Trial {
  switch (deed.kind) {
    case 'done':
      return { kind: 'done' };
    case 'refused':
      return { kind: 'refused', why: deed.why };
    case 'missing':
      return { kind: 'not-its-fault', why: 'the Engine said that there is no such container' };
    default:
      return { kind: 'not-its-fault', why: deed.why };
  }
}
