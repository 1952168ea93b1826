/** Reads what a request brings: a JSON body of at most 64 KiB and a query, both checked strictly against the route's schemas. */
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { AppError } from '../base/pure/errors.ts';

export const MAX_BODY_BYTES = 64 * 1024;

const invalid = (problem: string): AppError => new AppError('REQUEST_INVALID', { problem });

export async function readBody(request: IncomingMessage): Promise<unknown> {
  const type = request.headers['content-type'] ?? 'nothing';
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)) throw new AppError('BODY_NOT_JSON', { type });
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw invalid('its body is not valid JSON.');
  }
}

const tooLarge = (): AppError => new AppError('BODY_TOO_LARGE', { limit: MAX_BODY_BYTES });

/** GET takes no body: one that is sent anyway is a mistake, and would only be thrown away. */
export function refuseBody({ headers }: IncomingMessage): void {
  const length = Number(headers['content-length'] ?? 0);
  if (length > 0 || headers['transfer-encoding'] !== undefined) throw invalid('this route takes no body.');
}

/** The query as an object; a parameter given twice is refused rather than half ignored. */
export function readQuery(search: string): Record<string, string> {
  const values = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(search)) {
    if (values.has(key)) throw invalid(`"${key}" is given twice.`);
    values.set(key, value);
  }
  return Object.fromEntries(values);
}

/** Every problem at once, each with its path. */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.map(String).join('.')}: ${message}` : message,
  );
  throw invalid(problems.slice(0, 5).join('; '));
}
