/** A configuration in the words of another engine, for programs. */

import type { ResolvedConfig } from '../config/load.ts';
import type { SecretMode } from '../kubernetes/rules/given.ts';
import type { KubernetesObject } from '../kubernetes/rules/object.ts';
import { type ConfigInput, readConfigInput } from './read-config.ts';

export interface RenderOptions {
  /** Only this one so far. */
  readonly engine?: 'kubernetes';
  /** The namespace of all objects; it overrides that of the configuration. */
  readonly namespace?: string;
  /** Whether Secrets are only named (`refer`, the default), rendered with their values, or nothing else is. */
  readonly secrets?: SecretMode;
  /** Instead of the components: what runs Keepwell itself in the cluster, with this image; `claim`: a PersistentVolumeClaim for its history. */
  readonly self?: { readonly image: string; readonly claim?: string };
  /** Reject with KUBERNETES_LOSSES when anything is lost. */
  readonly strict?: boolean;
  /** What relative paths are relative to. Default: the working directory. */
  readonly cwd?: string;
}

/** Something that the configuration says and the engine does not do. */
export interface RenderLoss {
  /** Null: it is about the whole. */
  readonly component: string | null;
  /** Absolute. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The key: "components.api.heartbeat". */
  readonly path: string;
  readonly message: string;
}

export interface RenderStage {
  /** From 1. */
  readonly number: number;
  readonly components: readonly string[];
  /** Commands that end when the next stage may begin. */
  readonly waits: readonly string[];
}

export interface Rendering {
  /** In the order in which they are applied. */
  readonly objects: readonly KubernetesObject[];
  readonly stages: readonly RenderStage[];
  /** Names of the Secrets that the objects refer to. */
  readonly secrets: readonly string[];
  readonly losses: readonly RenderLoss[];
  /** All of it as YAML, with the commands and the losses at its head. */
  readonly yaml: string;
}

/** Contacts nobody and applies nothing. Rejects with an AppError when the configuration cannot be rendered. */
export async function render(config: ConfigInput, options: RenderOptions = {}): Promise<Rendering> {
  const { refuseLosses, renderKubernetes } = await import('../kubernetes/render.ts');
  const { config: resolved } = readConfigInput(config, options.cwd === undefined ? {} : { cwd: options.cwd });
  const { namespace = null, secrets = 'refer', strict = false } = options;
  const rendered = renderKubernetes(resolved, { namespace, secrets });
  if (strict) refuseLosses(rendered.losses, resolved.baseDir);
  const self = options.self && (await selfOf(resolved, options.self, { namespace, secrets }));
  return {
    objects: self?.objects ?? rendered.objects.map(({ object }) => object),
    stages: self ? [] : rendered.stages,
    secrets: self?.secrets ?? rendered.secrets,
    losses: rendered.losses.map(({ component, file, line, column, path, message }) => ({
      ...{ component, file, line, column, path, message },
    })),
    yaml: (self ?? rendered).text('FILE'),
  };
}

async function selfOf(
  config: ResolvedConfig,
  { image, claim = null }: { readonly image: string; readonly claim?: string | null },
  options: { readonly namespace: string | null; readonly secrets: SecretMode },
) {
  const { renderSelf } = await import('../kubernetes/render-self.ts');
  return renderSelf(config, { ...options, image, claim });
}
