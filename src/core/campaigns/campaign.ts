/** A campaign as it was asked for: experiments that run one after the other inside compose services. */

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

/** `{name}` and `{config}` in one text; what is filled in is not looked at again. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, key: string) => (Object.hasOwn(values, key) ? values[key]! : whole));
