/** How much longer a campaign takes, by what its experiments took so far. */
import { type Experiment, isFinal } from './state.ts';

export interface Progress {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
  /** Null: nothing has ended yet that could tell. */
  readonly leftMs: number | null;
}

/** `runningForMs`: how long the current one runs already. One without an example of its service takes as long as all others did. */
export function progressOf(experiments: readonly Experiment[], runningForMs: number): Progress {
  const timed = experiments.filter((one) => one.state === 'done' && one.durationMs !== null);
  const open = experiments.filter((one) => !isFinal(one));
  const guess = (service: string): number => {
    const alike = timed.filter((one) => one.service === service);
    return mean((alike.length > 0 ? alike : timed).map((one) => one.durationMs!));
  };
  const left = open.reduce((sum, one) => sum + guess(one.service), 0);
  const current = open.find((one) => one.state === 'running');
  const spent = current ? Math.min(runningForMs, guess(current.service)) : 0;
  return {
    done: experiments.filter((one) => one.state === 'done').length,
    failed: experiments.filter((one) => one.state === 'failed').length,
    total: experiments.length,
    leftMs: open.length === 0 ? 0 : timed.length === 0 ? null : left - spent,
  };
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
