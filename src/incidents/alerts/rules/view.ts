/** What is shown of alerts: by which ways people are told, and what they were told. */
import type { IsoTime } from '../../../base/pure/json.ts';
import type { AlertKind, AlertTopic, ChannelTopic } from './book.ts';

export interface ChannelView {
  /** "slack at hooks.slack.com" */
  readonly channel: string;
  /** What it is told of. */
  readonly on: readonly ChannelTopic[];
  /** Messages that are on their way. */
  readonly waiting: number;
  /** Messages that it did not take, until it takes one again. */
  readonly lost: number;
  /** Why it did not take the last of them; null: it took all. */
  readonly problem: string | null;
}

export interface OpenAlertView {
  readonly kind: AlertKind;
  readonly text: string;
  readonly incident: number | null;
  /** Whether people were told. */
  readonly told: boolean;
}

export interface AlertsView {
  readonly schema_version: 1;
  /** What is worth an alert, as the configuration says. */
  readonly on: readonly AlertTopic[];
  readonly channels: readonly ChannelView[];
  /** Not over yet. */
  readonly open: readonly OpenAlertView[];
  /** Until then most is held back, because these are quiet hours; null: they are not. */
  readonly quiet_until: IsoTime | null;
  /** When the next digest is sent; null: there is none. */
  readonly next_digest: IsoTime | null;
}

export interface ChannelTestView {
  readonly channel: string;
  readonly ok: boolean;
  /** Why it did not take the message; null: it took it. */
  readonly problem: string | null;
}

export interface AlertTestView {
  readonly schema_version: 1;
  readonly results: readonly ChannelTestView[];
}
