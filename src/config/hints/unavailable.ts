/**
 * What the design has and this version has not, by place. Accepting one of these silently would be a promise we do not keep.
 * A row is deleted when the thing arrives in the schema.
 */
import { ROLE_PLACE } from './places.ts';

export const THIS_VERSION = '0.1';

const QUESTIONS = ['grpc', 'temporal'];

export const UNAVAILABLE: Readonly<Record<string, readonly string[]>> = {
  '': ['checks', 'agents', 'sessions', 'tickets', 'alerts', 'store', 'telemetry', 'dashboard', 'campaign'],
  'components.*': ['container', 'compose', 'heartbeat', 'cleanup'],
  'components.*.startup': QUESTIONS,
  'components.*.liveness': QUESTIONS,
  'components.*.readiness': QUESTIONS,
};

/** With one of these given, a missing key of this name is not a second mistake. */
export const STANDS_FOR: Readonly<Record<string, string>> = {
  container: 'process',
  compose: 'process',
  grpc: 'tcp',
  temporal: 'tcp',
};

export const NOT_AVAILABLE = `not available in this version (${THIS_VERSION})`;

/** What to do until then, where there is something better than to do without. */
export const UNTIL_THEN: Readonly<Record<string, string>> = {
  grpc: 'Until then, ask its port (tcp: 7234) or run a client (exec: { command: [grpc_health_probe, "-addr=:7234"] }).',
  temporal: 'Until then, run a client: exec: { command: [temporal, operator, cluster, health] }',
};

export function unavailableAt(place: string): readonly string[] {
  const [whole, role, item] = ROLE_PLACE.exec(place) ?? [];
  const at = item && place === whole ? `components.*.${role}` : place;
  return Object.hasOwn(UNAVAILABLE, at) ? UNAVAILABLE[at]! : [];
}
