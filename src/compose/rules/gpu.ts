/** What the GPUs of a container say of themselves. */
export interface Gpu {
  readonly index: number;
  readonly uuid: string;
  /** Null: it does not say; that is not 0. */
  readonly usedBytes: number | null;
  readonly totalBytes: number | null;
  /** What an operator should know and what is no verdict: "2 uncorrected memory errors". */
  readonly notes: readonly string[];
}

export type GpuReading =
  | { readonly kind: 'read'; readonly gpus: readonly Gpu[] }
  /** There is nothing in this container that could tell: it has no GPU, as far as can be known. */
  | { readonly kind: 'none' }
  /** `remedy`: what may help. `none`: it is the machine's fault, and no restart helps. */
  | { readonly kind: 'fault'; readonly why: string; readonly remedy: 'restart' | 'recreate' | 'none' }
  /** It was asked and the answer cannot be understood, or it could not be asked. That is no verdict. */
  | { readonly kind: 'unknown'; readonly why: string };
