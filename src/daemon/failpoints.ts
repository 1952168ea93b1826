/** Failpoints switched on by KEEPWELL_FAILPOINTS; see ports/failpoints.ts for the language. */

import { FAILPOINTS, type Failpoint, type Failpoints, noFailpoints } from '../base/failpoints.ts';
import { AppError } from '../base/pure/errors.ts';

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
