import type { ProbeTarget } from '../../../src/ports/prober.ts';
import { run, spec } from '../../support/builders.ts';

/** The run of a component whose output begins there. */
export const target = (name: string, logFrom = 0): ProbeTarget => ({
  spec: spec(name),
  run: run(`${name}~1`),
  pid: null,
  logFrom,
});
