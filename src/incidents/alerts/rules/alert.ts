/** What is worth people's attention, and by which ways they are told. */
export const ALERT_KINDS = ['gave-up', 'freeze', 'crash-rate'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export type Channel =
  | { readonly kind: 'webhook'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'command'; readonly command: readonly string[] };

export interface AlertsSpec {
  readonly on: readonly AlertKind[];
  readonly channels: readonly Channel[];
  /** What is still open is told again after so long; null: never. */
  readonly remindMs: number | null;
}

export const NO_ALERTS: AlertsSpec = { on: [], channels: [], remindMs: null };
