export interface BundleOptions {
  readonly entries: Readonly<Record<string, string>>;
  readonly outdir: string;
  readonly minify?: boolean;
}

export function bundle(options: BundleOptions): Promise<string[]>;
export function bundleFile(entry: string): Promise<{ readonly path: string; remove(): void }>;
export function loadSource(entry: string): Promise<Record<string, unknown>>;
