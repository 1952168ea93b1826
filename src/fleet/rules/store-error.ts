/** What a failure of the database means, in our words. Pure: errors come from the driver, the network and TLS alike. */
import { AppError } from '../../base/pure/errors.ts';
import { redact } from '../../base/pure/redact.ts';

export interface DriverError {
  readonly code?: unknown;
  readonly message?: unknown;
}

const MAX_CHARS = 300;
const TLS = /certificate|self[- ]signed|ssl|tls|EPROTO|ALTNAME/i;
const LOGIN: readonly string[] = ['28P01', '28000', 'SASL_SIGNATURE_MISMATCH', 'AUTH_TYPE_NOT_IMPLEMENTED'];
/** Not about what we asked: the server is going down, is full, or is a standby for the moment. */
const AWAY = /^(?:08|53|57)|^25006$/;
const NETWORK =
  /^(?:ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|ENOENT|EACCES|CONNECT_TIMEOUT|CONNECTION_|UND_ERR)/;

/** `secrets`: values that must not appear, whatever the server repeats of them. */
export function storeError(error: unknown, store: string, secrets: readonly string[] = []): AppError {
  if (error instanceof AppError) return error;
  const { code: given, message = '' } = (error ?? {}) as DriverError;
  const code = typeof given === 'string' ? given : '';
  const problem = problemOf(String(message) || code || 'no reason given', secrets);
  const as = (name: Parameters<typeof asError>[0]) => asError(name, store, problem, error);
  if (LOGIN.includes(code)) return as(TLS.test(problem) ? 'FLEET_STORE_TLS' : 'FLEET_STORE_LOGIN_REFUSED');
  if (code === '3D000') return as('FLEET_STORE_NO_DATABASE');
  if (code === '42501') return as('FLEET_STORE_FORBIDDEN');
  if (NETWORK.test(code) || AWAY.test(code)) return as('FLEET_STORE_UNREACHABLE');
  if (TLS.test(`${code} ${problem}`)) return as('FLEET_STORE_TLS');
  return as('FLEET_STORE_FAILED');
}

type Code =
  | 'FLEET_STORE_LOGIN_REFUSED'
  | 'FLEET_STORE_NO_DATABASE'
  | 'FLEET_STORE_FORBIDDEN'
  | 'FLEET_STORE_UNREACHABLE'
  | 'FLEET_STORE_TLS'
  | 'FLEET_STORE_FAILED';

const asError = (code: Code, store: string, problem: string, cause: unknown): AppError =>
  new AppError(code, { store, problem }, { cause });

const problemOf = (message: string, secrets: readonly string[]): string =>
  redact(message.replace(/\s+/g, ' ').trim().replace(/\.$/, ''), secrets).slice(0, MAX_CHARS);

/** This very row cannot be stored, however often it is tried: a value out of range, or not of its kind. */
export const isRefusedRow = (error: unknown): boolean => {
  const { code } = (error ?? {}) as DriverError;
  return typeof code === 'string' && /^(?:22|23)/.test(code);
};
