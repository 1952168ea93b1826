/** Whether the process of an entry lives. A pid alone says nothing: it is reused, and sometimes nobody may look. */
import type { ExitCause } from '../../base/pure/exit.ts';
import type { BootId, RunId, WallMs } from '../../base/pure/ids.ts';
import type { Entry } from './others-entry.ts';

/** What is under a pid now. */
export type Sight =
  | {
      readonly kind: 'there';
      /** It has ended, and its parent has not taken note of that. */
      readonly zombie: boolean;
      /** How a zombie ended; null: it lives, or the kernel does not tell us. */
      readonly exit: ExitCause | null;
      /** Since boot, only ever compared. */
      readonly startTime: string;
      readonly startedAt: WallMs;
      readonly ppid: number;
      /** The run of ours that it belongs to, as its environment says; null: none, or we may not look. */
      readonly run: RunId | null;
    }
  | { readonly kind: 'gone' }
  /** We may not look, or cannot. */
  | { readonly kind: 'unknown'; readonly why: string };

type There = Extract<Sight, { kind: 'there' }>;

/** What was seen of an entry before. */
export interface Known {
  /** Of the entry; another one under the same key is another agent. */
  readonly id: string;
  /** Of its process, when it was seen alive. */
  readonly seen: {
    readonly boot: BootId;
    readonly startTime: string;
    readonly ppid: number;
    /** Absent: written before anybody asked for it. */
    readonly run?: RunId | null;
  } | null;
}

export type Verdict =
  /** `orphan`: its parent is gone. */
  | ({ readonly kind: 'alive'; readonly orphan: boolean } & Pick<There, 'startTime' | 'ppid' | 'run'>)
  | {
      readonly kind: 'dead';
      readonly why: string;
      readonly zombie: boolean;
      readonly reboot: boolean;
      /** Of a zombie, as far as the kernel tells. */
      readonly exit: ExitCause | null;
      /** Of a zombie: which process it is. */
      readonly startTime: string | null;
    }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * A process that began this much later than its entry says is somebody else. Clocks are set now and then, and nobody gets the pid of
 * a process that has just ended, so this errs on the side of the living.
 */
export const START_SLACK_MS = 60_000;

export function judge({ pid, startedAt }: Entry, sight: Sight, known: Known | null, boot: BootId): Verdict {
  if (sight.kind === 'unknown') return sight;
  const seen = known?.seen ?? null;
  if (seen !== null && seen.boot !== boot)
    return dead(`the machine was restarted since process ${pid} was seen`, { reboot: true });
  if (sight.kind === 'gone') return dead(`process ${pid} is gone`);
  const isAnother =
    seen === null
      ? startedAt !== null && sight.startedAt > startedAt.latest + START_SLACK_MS
      : seen.startTime !== sight.startTime;
  if (isAnother) return dead(`process ${pid} is gone, and its number belongs to another process now`);
  const { startTime, ppid, run, exit } = sight;
  if (sight.zombie) {
    const unseen = exit === null ? ', and its exit code is not ours to read' : '';
    const why = `process ${pid} has ended, but its parent ${ppid} has not taken note of it${unseen}`;
    return dead(why, { zombie: true, exit, startTime });
  }
  return { kind: 'alive', startTime, ppid, run, orphan: seen !== null && seen.ppid !== ppid };
}

type Dead = Extract<Verdict, { kind: 'dead' }>;
const GONE = { zombie: false, reboot: false, exit: null, startTime: null } as const;
const dead = (why: string, more: Partial<Dead> = {}): Dead => ({ kind: 'dead', why, ...GONE, ...more });
