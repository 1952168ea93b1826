/** A check: a named one-shot question with dependencies. What the configuration says of it, complete, and what its answer looks like. */

import type { ComponentName } from '../base/pure/ids.ts';
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

export interface CheckResult {
  readonly status: CheckStatus;
  /** Of a failure: with what to do about it, "container not running - run ./scripts/sandbox-init.sh". */
  readonly message: string;
}

/** Keys of `checks` are in configuration order. */
export interface HealthReport {
  readonly status: 'healthy' | 'unhealthy';
  readonly timestamp: string;
  readonly checks: Readonly<Record<string, CheckResult>>;
}
