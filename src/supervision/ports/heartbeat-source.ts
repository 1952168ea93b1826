import type { HeartbeatSource } from '../rules/freeze/heartbeat.ts';
import type { ProbeTarget } from './prober.ts';

/** What was heard since the last time. */
export type HeartbeatSignal =
  /** `ageMs`: how long ago that was, as far as it says itself. */
  | { readonly kind: 'beat'; readonly mark: string; readonly ageMs: number | null }
  /** `note`: why there could be none: the file is not there, or has no such field. */
  | { readonly kind: 'silence'; readonly mark: string | null; readonly note: string | null }
  /** There was something, but only while one of our probes asked: it may be nothing but the answer to that. */
  | { readonly kind: 'echo'; readonly mark: string; readonly note: string }
  /** We could not hear anything, whatever there was. That is never the component's fault. */
  | { readonly kind: 'deaf'; readonly note: string };

/** Listens for the beats of one run. */
export interface OpenHeartbeatSource extends Disposable {
  /** Never rejects; never called twice at once. */
  listen(): Promise<HeartbeatSignal>;
  /** One of our probes begins to ask the component, or all of them are over. Absent: nothing it listens to comes from that. */
  asked?(isAsked: boolean): void;
}

export interface HeartbeatSources {
  /**
   * `mark`: how far an earlier daemon had listened, as the last signal told; null: nobody has.
   * Then the first signal of a file is what was there before: a beat, with its age.
   */
  open(
    source: Exclude<HeartbeatSource, { kind: 'ping' }>,
    target: ProbeTarget,
    mark: string | null,
  ): OpenHeartbeatSource;
}
