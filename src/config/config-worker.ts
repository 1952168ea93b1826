/** The thread that reads a configuration: one question, one answer. See read-config.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { type LoadOptions, loadConfig } from './load.ts';
import { ConfigError } from './problem.ts';
import type { ConfigAnswer } from './read-config.ts';

function answer(options: LoadOptions): ConfigAnswer {
  try {
    return { kind: 'config', config: loadConfig(options) };
  } catch (error) {
    if (error instanceof ConfigError) return { kind: 'refused', problems: error.problems };
    throw error;
  }
}

parentPort?.postMessage(answer(workerData as LoadOptions));
