/** Tells a client that asked for it what has changed, from the events of the daemon. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventView } from '../../supervision/rules/views.ts';
import type { McpProject } from './project.ts';
import { componentUri, logsUri, PROBLEMS_URI, STATUS_URI } from './resources.ts';

/** A restart is a handful of events: one notice for all of them. */
const TOGETHER_MS = 200;
const AGAIN_MS = 1_000;

export interface ChangeListener {
  /** These addresses have something new. */
  updated(uris: readonly string[]): void;
  /** Components came or went. */
  listed(): void;
}

/** Until the signal aborts. Never throws: a daemon that is away comes back, and is told of as a change, too. */
export async function followChanges(project: McpProject, listener: ChangeListener, signal: AbortSignal): Promise<void> {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  let known = '';
  const tell = (): void => {
    timer = null;
    const uris = [...changed];
    changed.clear();
    listener.updated(uris);
    void project.names().then(
      (names) => {
        const now = names.join('\n');
        if (now !== known) listener.listed();
        known = now;
      },
      () => {},
    );
  };
  const change = (...uris: readonly string[]): void => {
    for (const uri of uris) changed.add(uri);
    timer ??= setTimeout(tell, TOGETHER_MS);
  };
  try {
    while (!signal.aborted) {
      try {
        const { client } = project.call;
        const { last_seq: after } = await client.listEvents({ limit: 1 });
        known = (await project.names()).join('\n');
        const onAway = () => change(STATUS_URI, PROBLEMS_URI);
        for await (const event of client.events({ after, signal, onAway })) change(...touched(event));
      } catch {
        // not there yet, or not ours to ask; the next look tells
      }
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}

/** A component that starts or ends has written something. */
const touched = ({ subject: { kind, name } }: EventView): readonly string[] =>
  kind === 'component' ? [STATUS_URI, PROBLEMS_URI, componentUri(name), logsUri(name)] : [STATUS_URI, PROBLEMS_URI];
