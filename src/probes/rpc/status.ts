/** How a gRPC call ended, by number and by name. */

export const OK = 0;
export const NOT_FOUND = 5;
export const PERMISSION_DENIED = 7;
export const UNIMPLEMENTED = 12;
export const UNAUTHENTICATED = 16;
const UNKNOWN = 2;
const INTERNAL = 13;
const UNAVAILABLE = 14;

const NAMES: readonly string[] = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
  ...['INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];

export const statusName = (status: number): string => NAMES[status] ?? `status ${status}`;

/** What gRPC takes the answer of a proxy, or of a server without gRPC, for. */
const OF_HTTP: Readonly<Record<number, number>> = {
  400: INTERNAL,
  401: UNAUTHENTICATED,
  403: PERMISSION_DENIED,
  404: UNIMPLEMENTED,
  429: UNAVAILABLE,
  502: UNAVAILABLE,
  503: UNAVAILABLE,
  504: UNAVAILABLE,
};

export const statusOfHttp = (status: number): number => OF_HTTP[status] ?? UNKNOWN;
