/** Answers: one JSON document each, errors as ErrorView with the status of the error table. */
import type { ServerResponse } from 'node:http';
import type { Log } from '../base/log.ts';
import { AppError, errorView } from '../base/pure/errors.ts';

const HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

const RETRY_AFTER_S = 1;

export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(status, {
    ...HEADERS,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': text.length,
  });
  response.end(text);
}

export function sendText(response: ServerResponse, type: string, body: string): void {
  const text = Buffer.from(body);
  response.writeHead(200, { ...HEADERS, 'Content-Type': type, 'Content-Length': text.length });
  response.end(text);
}

/** What went wrong, for the caller. What only the developers can use (the stack) goes to the daemon's log, never into the answer. */
export function sendError(response: ServerResponse, error: unknown, log: Log): void {
  const known = error instanceof AppError ? error : internal(error, log);
  if (response.headersSent) {
    response.destroy(); // half an answer cannot be turned into an error; a broken connection is at least not a lie
    return;
  }
  if (known.httpStatus === 503) response.setHeader('Retry-After', RETRY_AFTER_S);
  if (known.httpStatus === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (known.code === 'TOO_MANY_WRONG_TOKENS') response.setHeader('Retry-After', 60);
  if (known.code === 'METHOD_NOT_ALLOWED') response.setHeader('Allow', String(known.details['allowed']));
  // After a refused body the rest of it is still on the way: this connection cannot be used again.
  if (!response.req.complete) response.setHeader('Connection', 'close');
  sendJson(response, known.httpStatus, errorView(known));
}

function internal(error: unknown, log: Log): AppError {
  log.error('a request failed', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  return new AppError('INTERNAL', { problem: 'see daemon.log.' }, { cause: error });
}

export const streamHeaders = {
  ...HEADERS,
  'Content-Type': 'text/event-stream; charset=utf-8',
  Connection: 'close',
} as const;
