/**
 * What the design has and this version has not, by place. Accepting one of these silently would be a promise we do not keep.
 * A row is deleted when the thing arrives in the schema.
 */
export const THIS_VERSION = '0.1';

export const UNAVAILABLE: Readonly<Record<string, readonly string[]>> = {
  '': ['checks', 'agents', 'sessions', 'tickets', 'alerts', 'store', 'telemetry', 'dashboard', 'campaign'],
  'components.*': [
    ...['container', 'compose', 'external'],
    ...['startup', 'liveness', 'readiness', 'limits', 'heartbeat', 'crash_patterns', 'cleanup'],
  ],
  'components.*.process': ['user', 'group', 'umask', 'nice'],
  'components.*.restart': ['command'],
};

/** These say what a component is, so with one of them a missing `process` is not a second mistake. */
export const OTHER_KINDS: readonly string[] = ['container', 'compose', 'external'];

export const NOT_AVAILABLE = `not available in this version (${THIS_VERSION})`;

export const unavailableAt = (place: string): readonly string[] =>
  Object.hasOwn(UNAVAILABLE, place) ? UNAVAILABLE[place]! : [];
