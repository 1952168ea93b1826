/** Reads a configuration without holding up the event loop: hundreds of components take a tenth of a second, which is spent in a thread. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { programFile } from '../base/program-file.ts';
import type { LoadOptions, ResolvedConfig } from './load.ts';
import { ConfigError, type Problem } from './problem.ts';

export type ConfigAnswer =
  | { readonly kind: 'config'; readonly config: ResolvedConfig }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

/** Throws a ConfigError with every problem at once. */
export async function readConfig(options: LoadOptions): Promise<ResolvedConfig> {
  const worker = new Worker(programFile('config-worker.cjs'), { workerData: options });
  try {
    const [answer] = (await once(worker, 'message')) as [ConfigAnswer];
    if (answer.kind === 'refused') throw new ConfigError(answer.problems, options.cwd);
    return answer.config;
  } finally {
    await worker.terminate();
  }
}
