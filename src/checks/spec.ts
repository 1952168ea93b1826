/** A check: a named one-shot question with dependencies. What the configuration says of it, complete, and what its answer looks like. */

import type { ComponentName } from '../base/pure/ids.ts';
import type { IsoTime } from '../base/pure/json.ts';
import type { ProbeQuestion } from '../supervision/rules/health/probe.ts';

/** A check that could not be asked, whatever the reason, is failed: a script that asks "is it healthy?" must not hear yes. */
export type CheckStatus = 'ok' | 'failed' | 'skipped';

export type CheckQuestion =
  | { readonly kind: 'container_running'; readonly container: string }
  /** `in`: a container, null: this machine. Passes when one of the paths is there. */
  | { readonly kind: 'file_exists'; readonly in: string | null; readonly anyOf: readonly string[] }
  /** Set and not empty. Its value is never shown. */
  | { readonly kind: 'env_set'; readonly in: string | null; readonly name: string }
  | {
      readonly kind: 'state_file';
      /** Absolute. */
      readonly path: string;
      readonly idleWhenMissing: boolean;
      /** Fields of the JSON document. */
      readonly statusField: string;
      readonly taskField: string;
    }
  | { readonly kind: 'component'; readonly component: ComponentName }
  | { readonly kind: 'probe'; readonly question: ProbeQuestion };

export interface CheckSpec {
  readonly name: string;
  /** Names of checks that must be ok first. */
  readonly needs: readonly string[];
  readonly question: CheckQuestion;
  /** Said with the message when it failed; null: none was given. */
  readonly hint: string | null;
  readonly timeoutMs: number;
}

/** What the configuration says about all checks together. */
export interface HealthSettings {
  /** The daemon runs them this often; null: only when somebody asks. */
  readonly everyMs: number | null;
}

/** What one check came to. */
export interface CheckResult {
  /** Skipped: one that it needs failed, so it was not asked. */
  readonly status: CheckStatus;
  /** Of a check that failed: with what to do about it. */
  readonly message: string;
}

/** The answer to "is it healthy?" */
export interface HealthReport {
  /** Unhealthy as soon as one check failed. */
  readonly status: 'healthy' | 'unhealthy';
  readonly timestamp: IsoTime;
  /** By name, in the order of the configuration. */
  readonly checks: Readonly<Record<string, CheckResult>>;
}
