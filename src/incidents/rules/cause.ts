/** Which incident a death belongs to, and what it is called. What we ended ourselves has our reason as its cause. Pure. */

import type { ExitView } from '../../base/pure/exit.ts';
import { shortHash } from '../../base/pure/hash.ts';
import { normalise } from '../../crashes/rules/normalise.ts';
import { markSimulated, type Simulation } from '../../supervision/rules/simulation.ts';
import { freezeFingerprint } from '../../supervision/rules/unwell.ts';
import type { FreezeView, Subject } from '../../supervision/rules/views.ts';
import { subjectKey } from './incident.ts';

interface Death {
  readonly subject: Subject;
  readonly exit: ExitView;
  readonly fingerprint?: string;
  readonly rootCause: string | null;
  readonly freeze?: FreezeView;
  readonly simulated?: Simulation;
}

/**
 * Nothing that a program says when we end it tells why it had to be ended: a KeyboardInterrupt is our own SIGINT. `isFreezeOpen`:
 * a freeze of this fingerprint is known already, and whatever the run ends with, that is what it dies of.
 */
export function fingerprintOf(death: Death, isFreezeOpen: (fingerprint: string) => boolean): string {
  const { subject, exit, simulated } = death;
  const asTold = death.fingerprint ?? named(['end', subjectKey(subject), JSON.stringify(exit)]);
  if (subject.kind === 'session') return asTold;
  const marked = (fingerprint: string): string =>
    simulated === undefined
      ? fingerprint
      : markSimulated({ fingerprint, rootCause: null }, { ...simulated, memoryBytes: null }).fingerprint!;
  if (death.freeze !== undefined) {
    const frozen = marked(
      subject.kind === 'component' ? freezeFingerprint(subject.name) : named(['frozen', subjectKey(subject)]),
    );
    if (exit.unhealthy !== null || isFreezeOpen(frozen)) return frozen;
  }
  return exit.unhealthy === null ? asTold : marked(named(['ended', subjectKey(subject), normalise(exit.unhealthy)]));
}

const named = (parts: readonly string[]): string => `v1:${shortHash(parts.join('\n'))}`;
