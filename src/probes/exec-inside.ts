/** Runs the command of a probe inside the container of its run. */
import { formatDuration } from '../base/pure/format.ts';
import type { Answer } from '../supervision/rules/health/probe.ts';
import type { RunId } from '../base/pure/ids.ts';
import { redact } from '../base/pure/redact.ts';
import type { ContainerEngine } from '../docker/ports.ts';
import { fail, inconclusive, pass } from './answers.ts';
import { lastLine } from './last-line.ts';

export interface InsideParts {
  readonly engine: Pick<ContainerEngine, 'exec'>;
  /** The id of the container of this run; null: none is known. */
  containerOf(run: RunId): string | null;
}

interface Asked {
  readonly command: readonly string[];
  readonly run: RunId;
  readonly timeoutMs: number;
  /** Never shown. */
  readonly secrets: readonly string[];
}

/** A longer Node timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** What the Engine says of a container in which nothing can be run just now. Whether it has ended is told by others. */
const NOT_NOW = /is not running|is paused|is restarting|no such container/i;

export async function askInside(asked: Asked, signal: AbortSignal, inside: InsideParts | undefined): Promise<Answer> {
  const { command, run, timeoutMs, secrets } = asked;
  const id = inside?.containerOf(run) ?? null;
  if (!inside || id === null) return inconclusive('its container is not known yet');
  const end = new AbortController();
  const abort = () => end.abort();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, MAX_TIMER_MS));
  try {
    const result = await inside.engine.exec(id, command, end.signal);
    switch (result.kind) {
      case 'exited':
        return result.code === 0 ? pass('exit code 0') : failed(`exit code ${result.code}`, result.output, secrets);
      case 'called-off':
        return fail(`no answer within ${formatDuration(timeoutMs)}${result.left === null ? '' : `; ${result.left}`}`);
      case 'not-started':
        return NOT_NOW.test(result.why) ? inconclusive(result.why) : fail(result.why);
      case 'unreachable':
        return inconclusive(result.why);
      default:
        throw new Error(`no such result: ${JSON.stringify(result satisfies never)}`);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** How a command failed, and the last thing it said. */
export function failed(how: string, output: string, secrets: readonly string[]): Answer {
  const said = lastLine(redact(output, secrets));
  return fail(said === '' ? how : `${how}: ${said}`);
}
