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
  'adopt.before-revoke',
  'adopt.after-revoke',
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
