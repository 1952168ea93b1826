/** What components on another machine wrote: the daemon there reads the files. */
import { isGone } from '../../api/client/event-reader.ts';
import type { LogLineView, LogsFilter } from '../../logs/ports.ts';
import type { CliCall } from '../call.ts';
import { pause } from '../interrupt.ts';
import { resolveTargets } from '../targets.ts';
import { Printer } from './show.ts';

/** As many as the API gives of each component at once. */
const MAX_LINES = 10_000;
const AGAIN_MS = 500;

export interface RemoteShown extends LogsFilter {
  /** Lines of each to begin with; null: all that are meant, and that one answer has room for. */
  readonly tail: number | null;
  readonly timestamps: boolean;
  readonly follow: boolean;
}

export async function showRemoteLogs(call: CliCall, patterns: readonly string[], shown: RemoteShown): Promise<void> {
  const known = (await call.client.status()).components.map(({ name }) => name);
  const components = patterns.length > 0 ? resolveTargets(patterns, known) : [];
  const names = patterns.length > 0 ? components : known;
  const printer = new Printer(call, { ...shown, names, prefixed: names.length > 1 }, names);
  const { follow, tail, sinceMs, untilMs, grep, previous } = shown;
  const query = { components, tail: Math.min(tail ?? MAX_LINES, MAX_LINES), sinceMs, untilMs, grep, previous };
  if (follow) return await followThere(call, printer, query);
  const { lines } = await call.client.logs({ ...query, after: {} });
  const isCut = (tail ?? Number.MAX_SAFE_INTEGER) > MAX_LINES && hasFull(lines);
  if (isCut)
    call.note(`of each component, only the last ${MAX_LINES} lines come from another machine; see --since and --until`);
  for (const line of inOrder(lines)) printer.add(line);
  printer.flush();
}

function hasFull(lines: readonly LogLineView[]): boolean {
  const counts = new Map<string, number>();
  for (const { component } of lines) counts.set(component, (counts.get(component) ?? 0) + 1);
  return [...counts.values()].some((count) => count >= MAX_LINES);
}

/** In order of time; the lines of one component stay as they were, and one without a time stays behind the one before it. */
export function inOrder(lines: readonly LogLineView[]): LogLineView[] {
  const last = new Map<string, string>();
  const timed = lines.map((line) => {
    const time = line.at ?? last.get(line.component) ?? '';
    last.set(line.component, time);
    return { line, time };
  });
  return timed
    .sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0))
    .map(({ line }) => line);
}

/** Until Ctrl-C; over a connection that breaks, each time on from the last line that came. */
async function followThere(
  call: CliCall,
  printer: Printer,
  query: Omit<Parameters<CliCall['client']['followLogs']>[0], 'after'>,
): Promise<never> {
  const { signal, client } = call;
  const after: Record<string, number> = {};
  let isAway = false;
  for (;;) {
    try {
      for await (const line of client.followLogs({ ...query, after }, signal)) {
        isAway = false;
        after[line.component] = line.offset;
        printer.add(line);
        printer.flush();
      }
    } catch (error) {
      if (!isGone(error)) throw error;
      if (!isAway) call.note(`${(error as Error).message.replace(/\.$/, '')}; waiting for it`);
      isAway = true;
    }
    await pause(AGAIN_MS, signal);
  }
}
