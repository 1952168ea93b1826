/** What the configuration says about Kubernetes. */

export interface KubernetesSpec {
  /** For components that are processes; null: each needs one of its own in `images`. */
  readonly image: string | null;
  /** By component; they win over `image`. */
  readonly images: Readonly<Record<string, string>>;
  /** Null: that of whoever applies it. */
  readonly namespace: string | null;
  /** Of the kubeconfig; null: the current one. */
  readonly context: string | null;
}
