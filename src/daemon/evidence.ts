/** What a crash record gets besides the exit itself: the last output and what changed since the last good run. */
import { ingredients } from '../config/fingerprint.ts';
import { readEnvFileTexts } from '../config/load.ts';
import { formatBytes } from '../core/bytes.ts';
import type { ComponentSpec } from '../core/component.ts';
import { describeExit, type ExitView } from '../core/exit.ts';
import { secretValues } from '../core/redact.ts';
import { logTail } from '../logs/log-tail.ts';
import type { History } from '../ports/store.ts';
import type { SupervisorParts } from '../supervisor/supervisor.ts';
import { environmentOf } from './launch-run.ts';

export interface EvidenceOptions {
  readonly spec: ComponentSpec;
  readonly exit: ExitView;
  readonly logsDir: string;
  /** The daemon's own environment, which components inherit. */
  readonly base: Readonly<Record<string, string>>;
  readonly history: History;
}

export function collectEvidence(options: EvidenceOptions): ReturnType<SupervisorParts['evidence']> {
  const { spec, exit, logsDir, base, history } = options;
  const secrets = secretsOf(spec, base);
  const now = ingredients(spec, readEnvFileTexts(spec.driver.envFiles));
  return {
    logTail: logTail(logsDir, spec.name, secrets),
    changedSinceGood: changes(history.lastGoodIngredients(spec.name), now),
    errorType: null,
    errorMessage: null,
    rootCause: exit.spawn_error ?? (exit.oom ? outOfMemory(spec) : exit.signal ? describeExit(exit) : null),
  };
}

/** What the kernel counted, and what the configuration allowed. */
function outOfMemory({ limits: { memoryBytes } }: ComponentSpec): string {
  const killed = 'the kernel killed it because there was no memory left for it';
  if (memoryBytes === null) return `${killed}; it has no limit of its own`;
  return `${killed}; all its processes together may use ${formatBytes(memoryBytes)} (limits.memory)`;
}

/** Values of this component's environment that must never be shown. */
export function secretsOf(spec: ComponentSpec, base: Readonly<Record<string, string>>): readonly string[] {
  const environment = environmentOf(spec, base);
  return secretValues('heals' in environment ? { ...base, ...spec.driver.env } : environment.env);
}

type Ingredients = Readonly<Record<string, string>>;

/** Null when there is no good run to compare with. */
function changes(good: Ingredients | null, now: Ingredients): readonly string[] | null {
  if (!good) return null;
  const names = new Set([...Object.keys(good), ...Object.keys(now)]);
  return [...names].filter((name) => good[name] !== now[name]).sort();
}
