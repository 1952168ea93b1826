import type { LogPlace } from '../../../src/logs/ports.ts';
import type { ProbeTarget } from '../../../src/supervision/ports/prober.ts';
import { run, spec } from '../../support/builders.ts';

/** The run of a component whose output begins there. */
export const target = (name: string, logFrom = 0): ProbeTarget => ({
  spec: spec(name),
  run: run(`${name}~1`),
  pid: null,
  logFrom,
});

/** Of logs of which nothing was ever put aside. */
export const neverShortened = (_path: string, offset: number): LogPlace => ({ parts: [], offset, missingBytes: 0 });
