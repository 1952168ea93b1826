/** Questions to the daemon: with the token, and with its errors as it wrote them. */
import type { ErrorView } from '../../src/base/pure/errors.ts';
import { EventParser } from '../lib/sse.ts';

const KEY = 'keepwell-token';

/** Three heartbeats: whoever is silent for longer is not there any more. */
const SILENCE_MS = 45_000;

export class Refused extends Error {
  readonly status: number;
  readonly hint: string;

  constructor(status: number, message: string, hint: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

export const token = (): string => sessionStorage.getItem(KEY) ?? '';
export const keepToken = (text: string): void => sessionStorage.setItem(KEY, text);

const headers = (more: Record<string, string> = {}): Record<string, string> => ({
  ...(token() === '' ? {} : { Authorization: `Bearer ${token()}` }),
  ...more,
});

async function ask(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, { cache: 'no-store', credentials: 'omit', redirect: 'error', ...init });
  if (response.ok || response.status === 304) return response;
  const text = await response.text();
  let view: Partial<ErrorView> = {};
  try {
    view = JSON.parse(text) as ErrorView;
  } catch {
    // not an answer of the daemon
  }
  throw new Refused(
    response.status,
    view.error?.message ?? `The answer was ${response.status}.`,
    view.error?.hint ?? '',
  );
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await ask(path, { headers: headers({ Accept: 'application/json' }), signal: signal ?? null });
  return (await response.json()) as T;
}

/** Null: nothing changed since the answer with this tag. */
export async function getTagged<T>(
  path: string,
  tag: string,
): Promise<{ readonly value: T; readonly tag: string } | null> {
  const response = await ask(path, {
    headers: headers({ Accept: 'application/json', ...(tag === '' ? {} : { 'If-None-Match': tag }) }),
    signal: AbortSignal.timeout(10_000),
  });
  if (response.status === 304) return null;
  return { value: (await response.json()) as T, tag: response.headers.get('ETag') ?? '' };
}

export async function post<T>(path: string, body: object = {}): Promise<T> {
  const init = { method: 'POST', headers: headers({ 'Content-Type': 'application/json' }), body: JSON.stringify(body) };
  return (await (await ask(path, init)).json()) as T;
}

/** Everything of one connection, in the batches in which it arrives. Ends when the other side ends it or is silent for too long. */
export async function stream<T>(
  path: string,
  signal: AbortSignal,
  onOpen: () => void,
  onItems: (items: readonly T[]) => void,
): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort();
  signal.addEventListener('abort', end, { once: true });
  let silence = setTimeout(end, SILENCE_MS);
  try {
    const response = await ask(path, { headers: headers({ Accept: 'text/event-stream' }), signal: over.signal });
    onOpen();
    const parser = new EventParser();
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE_MS);
      const items = parser.push(value).map((data) => JSON.parse(data) as T);
      if (items.length > 0) onItems(items);
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', end);
    over.abort();
  }
}
