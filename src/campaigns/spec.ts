/** A campaign as it was asked for: experiments that run one after the other inside compose services. */
import { HIDDEN } from '../base/pure/redact/span.ts';
import { redact, SECRET_NAME, secretValues } from '../base/pure/redact.ts';

export interface CampaignSpec {
  readonly name: string;
  /** Absolute. */
  readonly composeFile: string;
  /** Absolute: what paths in the compose file are relative to. */
  readonly projectDir: string;
  /** In the order in which they are run. */
  readonly experiments: readonly ExperimentSpec[];
  readonly health: HealthRules;
  /** How long a service is left alone after a restart. */
  readonly coolDownMs: number;
  readonly onFailure: 'continue' | 'stop';
  readonly artifacts: readonly ArtifactSpec[];
}

export interface ExperimentSpec {
  readonly name: string;
  readonly service: string;
  /** As it was given; null: it has none. */
  readonly config: string | null;
  /** Placeholders are filled in. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** After a first attempt that failed. */
  readonly retries: number;
}

export interface HealthRules {
  readonly gpuMemoryThresholdPct: number;
  /** Per service, for one go of the campaign: a resume begins anew. */
  readonly maxRestarts: number;
  /** Also while an experiment runs; null: only before each one. */
  readonly everyMs: number | null;
}

export interface ArtifactSpec {
  /** In the container; `{name}` is the experiment. */
  readonly from: string;
  /** On this machine, absolute; `{name}` is the experiment. */
  readonly to: string;
}

/** What tells the experiments of a matrix apart, for people and tables. */
export interface ExperimentSettings {
  readonly config: string | null;
  /** Without the values of those that have a telling name. */
  readonly env: Readonly<Record<string, string>>;
}

export const settingsOf = ({ config, env }: ExperimentSpec): ExperimentSettings => ({
  config: config === null ? null : redact(config, secretValues(env)),
  env: Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      SECRET_NAME.test(name) ? HIDDEN : redact(value, secretValues(env)),
    ]),
  ),
});

/** `{name}` and `{config}` in one text; what is filled in is not looked at again. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, key: string) => (Object.hasOwn(values, key) ? values[key]! : whole));
