/** A sign of progress that a component gives by itself, and how long it may be without one. */
import type { SignalName } from '../../../base/pure/exit.ts';
import { describePattern, parsePattern } from '../health/pattern.ts';

export type HeartbeatSource =
  /** Absolute. `field`: of the JSON document in it, whose value moves on; null: when it was written last. */
  | { readonly kind: 'file'; readonly path: string; readonly field: string | null }
  /** A line is expected this often. `pattern`: only lines that fit count; null: every line. */
  | { readonly kind: 'log'; readonly everyMs: number; readonly pattern: string | null }
  /** `keepwell beat NAME`, or the same over the socket. */
  | { readonly kind: 'ping' };

export interface HeartbeatSpec {
  readonly source: HeartbeatSource;
  readonly freezeAfterMs: number;
  /** Makes the main process write where it is to its log; null: there is no such signal. */
  readonly dumpSignal: SignalName | null;
}

/** A heartbeat that has a rhythm is overdue from its next beat on, one without from the last. */
export const silenceLimitMs = ({ source, freezeAfterMs }: HeartbeatSpec): number =>
  freezeAfterMs + (source.kind === 'log' ? source.everyMs : 0);

/** In a few words: "ping", "log", 'log lines with "tick"', "file state.json, field last_update". */
export function describeSource(source: HeartbeatSource): string {
  switch (source.kind) {
    case 'ping':
      return 'ping';
    case 'log':
      return source.pattern === null ? 'log' : `log lines with ${patternText(source.pattern)}`;
    case 'file': {
      const name = source.path.slice(source.path.lastIndexOf('/') + 1);
      return source.field === null ? `file ${name}` : `file ${name}, field ${source.field}`;
    }
    default:
      throw new Error(`no such source: ${JSON.stringify(source satisfies never)}`);
  }
}

function patternText(written: string): string {
  const pattern = parsePattern(written);
  return 'problem' in pattern ? written : describePattern(pattern);
}
