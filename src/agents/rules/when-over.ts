/** An agent whose run is over: by itself, because it never began, or because the machine was restarted. */
import { type ExitCause, exitView } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { after, type MonoMs, type RunId } from '../../base/pure/ids.ts';
import { delayMs } from '../../supervision/rules/restart/backoff.ts';
import type { AgentRecord, AgentState, Pause } from '../spec.ts';
import { judge } from './judge.ts';
import {
  type AgentContext,
  type AgentEnd,
  type AgentEvent,
  type AgentStep,
  judged,
  moved,
  same,
  tell,
  wallOf,
} from './step.ts';

const REBOOT: ExitCause = { kind: 'unknown', why: 'the machine was restarted' };

type Exited = Extract<AgentEvent, { kind: 'exited' }>;

export function exited(record: AgentRecord, event: Exited, context: AgentContext): AgentStep {
  const { state } = record;
  if (!('run' in state)) return same(record);
  const { run, at, cause, leftovers } = event;
  // Another daemon recorded its end already; what it left behind may be gone by now.
  if (state.kind === 'stopping' && state.ended)
    return leftovers.length === 0 ? settle(record, state, context) : same(record);
  const verdict = judge(record, cause, context);
  const startedAt = state.kind === 'running' ? state.startedAt : null;
  const uptimeMs = startedAt === null ? upSince(record, at, context) : Math.max(0, at - startedAt);
  const end: AgentEnd = { run, at, uptimeMs, cause, ...verdict.end };
  const exit = { at: wallOf(at, context), exit: exitView(cause) };
  const known = { lastExit: exit, respawns: judged(record, run, verdict.helped) };
  const stopping = {
    kind: 'stopping',
    run,
    pid: null,
    killAt: after(context.now, context.policy.stop.graceMs),
    after: verdict.next,
    ended: true,
  } as const;
  const between = { ...record, ...known };
  if (leftovers.length === 0) {
    const settled = settle(between, stopping, context);
    return { record: settled.record, effects: [...verdict.effects, ...settled.effects], end };
  }
  const { signal } = context.policy.stop;
  const ending = [tell('agent.leftovers', { pids: leftovers }), { kind: 'signal', run, signal } as const];
  return { record: moved(between, stopping, context), effects: [...verdict.effects, ...ending], end };
}

/** Its start was told to another daemon, or never; the record says when. */
const upSince = ({ startedAt }: AgentRecord, at: MonoMs, context: AgentContext): number =>
  startedAt === null ? 0 : Math.max(0, wallOf(at, context) - startedAt);

type Stopping = Extract<AgentState, { kind: 'stopping' }>;

/** All of the run is gone. */
export function settle(record: AgentRecord, { run, after: next }: Stopping, context: AgentContext): AgentStep {
  const isOver = next.kind !== 'backing-off';
  const told = next.kind === 'stopped' ? [tell('agent.stopped')] : [];
  const more = isOver ? { endedAt: context.wall } : {};
  return { record: moved(record, next, context, more), effects: [...told, { kind: 'release', run }], end: null };
}

type SpawnFailed = Extract<AgentEvent, { kind: 'spawn-failed' }>;

/** A start that can be tried again is nobody's crash; one that cannot heal counts like one. */
export function spawnFailed(record: AgentRecord, { run, problem }: SpawnFailed, context: AgentContext): AgentStep {
  const { state } = record;
  const cause: ExitCause = { kind: 'spawn-failed', problem };
  if (state.kind === 'stopping' || !problem.heals) {
    return exited(record, { kind: 'exited', run, at: context.now, cause, leftovers: [] }, context);
  }
  const { backoff } = context.policy;
  const wait = problem.code === 'cancelled' ? 0 : delayMs(backoff, RETRY_STEP, context.random);
  const counted = record.respawns.at(-1)?.run === run;
  const next: Pause = { kind: 'backing-off', until: after(context.now, wait), counts: counted };
  // It never began, so it was no respawn yet.
  const respawns = counted ? record.respawns.slice(0, -1) : record.respawns;
  const end: AgentEnd = {
    ...{ run, at: context.now, uptimeMs: 0, cause, crash: false, planned: false, rule: 'spawn-retry' },
    decision: wait === 0 ? 'start again at once' : `try again in ${formatDuration(wait)}`,
  };
  return { record: moved(record, next, context, { respawns }), effects: [{ kind: 'release', run }], end };
}

/** The machine is short of something: waits as after the third failure. */
const RETRY_STEP = 2;

/** Its end was the machine's, so it is no crash; but what takes the machine down must not do so for ever: its respawn counts. */
export function rebooted(record: AgentRecord, context: AgentContext): AgentStep {
  const { state } = record;
  if (state.kind === 'backing-off') return same(moved(record, { ...state, until: context.now }, context));
  if (!('run' in state)) return same(moved(record, state, context));
  const { run } = state;
  if (state.kind === 'stopping') {
    const next = state.after.kind === 'backing-off' ? { ...state.after, until: context.now } : state.after;
    return withEnd(
      settle(record, { ...state, after: next }, context),
      state.ended ? null : lost(run, context, 'ended with the machine'),
    );
  }
  const isLeft = record.respawns.length < context.maxRespawns;
  const next: Stopping['after'] = isLeft
    ? { kind: 'backing-off', until: context.now, counts: true }
    : { kind: 'gave-up' };
  const decision = isLeft
    ? `the machine was restarted: respawn at once (${record.respawns.length + 1} of ${context.maxRespawns})`
    : 'the machine was restarted: gave up, its respawns are used up';
  const settled = settle(
    { ...record, respawns: judged(record, run, null), lastExit: { at: context.wall, exit: exitView(REBOOT) } },
    { kind: 'stopping', run, pid: null, killAt: null, after: next, ended: true },
    context,
  );
  const told = [
    tell('agent.interrupted', { why: 'the machine was restarted' }),
    ...(isLeft ? [] : [tell('agent.gave-up')]),
  ];
  return withEnd({ ...settled, effects: [...told, ...settled.effects] }, lost(run, context, decision));
}

const lost = (run: RunId, { now }: AgentContext, decision: string): AgentEnd => ({
  ...{ run, at: now, uptimeMs: 0, cause: REBOOT, crash: false, planned: true },
  rule: 'planned-stop',
  decision,
});

const withEnd = (step: AgentStep, end: AgentEnd | null): AgentStep => ({ ...step, end });
