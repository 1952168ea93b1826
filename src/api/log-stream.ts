/** Lines of logs as a stream. The files are the queue: while a reader does not read, nothing is read for it. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogsQuery } from '../logs/ports.ts';
import type { Services } from './route.ts';
import { EventStream } from './streams.ts';

/** With lines at hand there may be more of them; but a component that writes without end must not keep the daemon busy. */
const MORE_MS = 20;

/** Resolves when the reader is gone, was cut off, or the server closes. Rejects before anything is sent when it cannot begin. */
export async function streamLogs(
  response: ServerResponse,
  query: LogsQuery,
  { control, streams }: Pick<Services, 'control' | 'streams'>,
): Promise<void> {
  await using cursor = control.logs.open(query);
  // Whoever asks for an expression that runs wild is told so while there still is an answer to give.
  let batch = await cursor.read();
  using stream = new EventStream(response, streams);
  const over = new AbortController();
  void stream.closed.then(() => over.abort());
  for (;;) {
    for (const line of batch.lines) stream.send(line);
    await stream.drained();
    const pauseMs = batch.lines.length > 0 || batch.more ? MORE_MS : streams.limits.logPollMs;
    await sleep(pauseMs, undefined, { signal: over.signal }).catch(() => {});
    if (stream.isOver) return;
    batch = await cursor.read();
  }
}
