/** Getting people's attention. Nothing here blocks, throws, or is told twice. */
import type { DayTime } from '../../base/pure/wall-time.ts';
import type { Channel } from './kinds.ts';
import type { AlertKind, AlertTopic, ChannelTopic, RaisedAlert } from './rules/book.ts';
import type { QuietHours } from './rules/quiet.ts';
import type { AlertsView, AlertTestView } from './rules/view.ts';

/** `alerts:` of the configuration, complete. */
export interface AlertsSpec {
  readonly on: readonly AlertTopic[];
  readonly channels: readonly ChannelSpec[];
  /** What is still open is told again after so long; null: never. */
  readonly remindMs: number | null;
  /** When people are told every day how it went; null: they are not. */
  readonly digest: DayTime | null;
  readonly quietHours: QuietHours | null;
}

/** With what this one is told of; absent: what all are. */
export type ChannelSpec = Channel & { readonly on?: readonly ChannelTopic[] };

/** What is still open under the same `key` is not told again; `text` is one sentence that names whom it is about. */
export type Alert = RaisedAlert;

export interface AlertService {
  /** Told soon, together with what else comes within a few seconds; and again after the reminder interval while it is not cleared. */
  raise(alert: Alert): void;
  /** It is over: told when it had been told. */
  clear(key: string): void;
  isOpen(key: string): boolean;
  /** Whether everybody who is told of this kind has an alert about this incident already. */
  knows(incident: number, kind: AlertKind): boolean;
  /** All that are not over, those of earlier daemons too. One about which channels are told differently is there once for each kind. */
  open(): readonly Alert[];
  /** Somebody said how much they want to hear of an incident: what is due is thought about again. */
  handled(): void;
  /** Which channel did not take which messages, in a sentence; null: all were taken since. */
  lost(): string | null;
  view(): AlertsView;
  /** A message to every channel, once and at once. Rejects with NO_ALERT_CHANNELS. */
  test(): Promise<AlertTestView>;
  /** From now on. */
  use(spec: AlertsSpec): void;
  /** Lets go of everything; what was not delivered is kept for the next daemon. */
  close(): Promise<void>;
}
