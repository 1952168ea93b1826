import { AppError } from './pure/errors.ts';

/**
 * Named places where tests can make the product die, wait or fail. Off unless KEEPWELL_FAILPOINTS names them; then
 * `name=crash`, `name=delay:400`, `name=error:ENOSPC`, each optionally `@N` (only the Nth hit), separated by `;`.
 */
export const FAILPOINTS = [
  'daemon.locked',
  'daemon.store-open',
  'daemon.before-listen',
  'daemon.before-adopt',
  'daemon.adopted',
  'desired.before-commit',
  'desired.after-commit',
  'step.before-commit',
  'step.after-commit',
  'spawn.before-dir',
  'spawn.after-dir',
  'spawn.before-shim',
  'spawn.after-shim',
  'spawn.answered',
  'adopt.before-revoke',
  'adopt.after-revoke',
  'evidence.before',
  'evidence.recorded',
  'exit.seen',
  'exit.before-release',
  'release.before-rename',
  'release.after-rename',
  'signal.before',
  'kill.before',
  'container.record-written',
  'container.before-create',
  'container.after-create',
  'container.before-start',
  'container.after-start',
  'container.before-kill',
  'container.before-remove',
  'store.write',
  'store.sync',
  'store.synced',
  'store.open',
  'agent.before-commit',
  'agent.after-commit',
  'session.before-record',
  'session.after-record',
  'session.after-network',
  'session.after-create',
  'session.after-start',
  'session.after-live',
  'session.before-remove',
  'session.after-remove',
  'ticket.before-call',
  'ticket.after-call',
  'alert.before-send',
  'alert.after-send',
  'logs.before-part',
  'logs.part-written',
  'logs.part-named',
  'logs.before-cut',
  'logs.cut',
  'logs.base-written',
  'logs.before-compress',
  'logs.compressed',
  'logs.compressed-named',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

export interface Failpoints {
  /** Returns at once when the failpoint is off. Throws an error with `code` for `error:CODE`; never returns for `crash`. */
  hit(name: Failpoint): void;
}

export const noFailpoints: Failpoints = { hit: () => {} };

// Switched on by KEEPWELL_FAILPOINTS.

type Action =
  | { readonly kind: 'crash' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'error'; readonly code: string };
interface Trigger {
  readonly action: Action;
  /** Only the Nth hit; null: every hit. */
  readonly only: number | null;
}

export function parseFailpoints(text: string | undefined): Failpoints {
  if (!text) return noFailpoints;
  const triggers = new Map(text.split(';').filter(Boolean).map(parseTrigger));
  const hits = new Map<string, number>();
  return {
    hit(name) {
      const trigger = triggers.get(name);
      if (!trigger) return;
      const count = (hits.get(name) ?? 0) + 1;
      hits.set(name, count);
      if (trigger.only === null || trigger.only === count) act(name, trigger.action);
    },
  };
}

function parseTrigger(text: string): [Failpoint, Trigger] {
  const [, name, kind, argument, only] =
    /^([\w.-]+)=(crash|delay|error)(?::(\w+))?(?:@(\d+))?$/.exec(text.trim()) ?? [];
  const known = FAILPOINTS.find((each) => each === name);
  if (!known)
    throw new AppError('USAGE', {
      problem: `KEEPWELL_FAILPOINTS: "${text}" is not "NAME=crash|delay:MS|error:CODE[@N]" with a known name.`,
    });
  const action: Action =
    kind === 'delay'
      ? { kind, ms: Number(argument ?? 0) }
      : kind === 'error'
        ? { kind, code: argument ?? 'EIO' }
        : { kind: 'crash' };
  return [known, { action, only: only === undefined ? null : Number(only) }];
}

function act(name: string, action: Action): void {
  if (action.kind === 'crash') process.kill(process.pid, 'SIGKILL'); // as hard as it can happen to us
  if (action.kind === 'delay') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, action.ms); // the whole loop stalls, as under load
  if (action.kind === 'error')
    throw Object.assign(new Error(`${action.code}: failpoint ${name}`), { code: action.code });
}
