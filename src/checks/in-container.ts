/** What all questions about containers begin with: the Engine answers, there is such a container, and it runs. */
import type { CheckResult } from './spec.ts';
import { failed } from './rules/results.ts';
import type { ContainerEngine, FullInspection } from '../docker/ports.ts';
import { similarName } from './container/similar-name.ts';
import { whyNotRunning } from './container/why-not-running.ts';

export type FoundContainer = Extract<FullInspection, { kind: 'found' }>;

/**
 * Never rejects. When `signal` aborts because the time is over (a TimeoutError, "no answer within 5 s"), that becomes part of the
 * message: an Engine that hangs is worth one of its own.
 */
export async function inRunning(
  container: string,
  engine: ContainerEngine,
  signal: AbortSignal,
  ask: (found: FoundContainer) => Promise<CheckResult>,
): Promise<CheckResult> {
  try {
    const inspection = await engine.inspect(container, signal);
    switch (inspection.kind) {
      case 'unreachable':
        return failed(inspection.why);
      case 'missing':
        return failed(await whyMissing(container, engine, signal));
      case 'found': {
        const why = whyNotRunning(container, inspection.state);
        return why === null ? await ask(inspection) : failed(why);
      }
      default:
        throw new Error(`no such inspection: ${JSON.stringify(inspection satisfies never)}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return failed(tooLate(signal));
  }
}

async function whyMissing(container: string, engine: ContainerEngine, signal: AbortSignal): Promise<string> {
  const similar = similarName(container, await engine.names(signal));
  if (similar !== null) return `there is no container "${container}". Did you mean "${similar}"?`;
  return `there is no container "${container}": create it, or correct the name ("docker ps -a" lists all there are)`;
}

/** What the reason of the signal says, or else the little that is known. */
export const notInTime = ({ reason }: AbortSignal): string =>
  reason instanceof Error && reason.name === 'TimeoutError' ? reason.message : 'no answer in time';

const tooLate = (signal: AbortSignal): string =>
  `${notInTime(signal)} from the Docker Engine: it hangs or is overloaded; see whether "docker ps" answers, and restart the Engine if it does not`;
