/** Tells how long the probes of components take to answer. */

import type { Prober } from '../supervision/ports/prober.ts';
import { ROLES } from '../supervision/rules/health/probe.ts';
import type { Telemetry } from './ports.ts';

export function measuringProber(prober: Prober, probed: Telemetry['probed']): Prober {
  return {
    describe: (...about) => prober.describe(...about),
    open: (question, target, onNews) => {
      const inquiry = prober.open(question, target, onNews);
      const role = ROLES.find((each) => target.spec.probes[each]?.question === question);
      if (role === undefined) return inquiry; // a check
      return {
        ask: async (timeoutMs, signal) => {
          const askedAt = performance.now();
          const answer = await inquiry.ask(timeoutMs, signal);
          if (!signal.aborted) probed(target.spec.name, role, performance.now() - askedAt);
          return answer;
        },
        [Symbol.dispose]: () => inquiry[Symbol.dispose](),
      };
    },
    watch: (...about) => prober.watch(...about),
  };
}
