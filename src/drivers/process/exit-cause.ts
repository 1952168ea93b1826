/** What an exit record means: a death, or a command that never came to life. */
import type { ExitCause, SpawnProblem } from '../../base/pure/exit.ts';
import { execFailure } from './command/exec-failure.ts';
import { passing, permanent, soundsPassing } from './command/spawn-problem.ts';
import { causeOfExit, type ExitRecord } from './exit-record.ts';
import type { RunMeta } from './run-dir.ts';
import { UNBOUND_CODE } from './shim/shim.ts';

export interface Circumstances {
  readonly meta: RunMeta | null;
  /** Whether the shim got as far as naming a main process. */
  readonly hadMain: boolean;
  readonly wasOomKilled: boolean;
}

export function verdict(record: ExitRecord, about: Circumstances): ExitCause | SpawnProblem {
  const { meta, hadMain, wasOomKilled } = about;
  if (record.code === UNBOUND_CODE && record.message !== '') return unbound(record.message);
  // Before it names itself the inner shell does one thing that can fail: it opens the log. The shim heard what it said.
  if (!hadMain && record.code <= 125 && record.message !== '') {
    return passing('log-file', `the log file ${meta?.log ?? ''} could not be opened: ${record.message}`);
  }
  const failure = meta && execFailure(record, meta);
  return failure ?? causeOfExit(record, wasOomKilled);
}

/** The inner shell could not do what its run has to be bound by, and said why. */
function unbound(message: string): SpawnProblem {
  const kind = soundsPassing(message) ? passing : permanent;
  return kind('limits', `it could not be bound to its limits: ${message}`);
}

export const isProblem = (outcome: ExitCause | SpawnProblem): outcome is SpawnProblem => 'heals' in outcome;
