/** What the configuration says about the page. */

/** Who may read the metrics over the network: whoever has a token, everybody, nobody. */
export const METRICS_ACCESS = ['token', 'open', 'off'] as const;
export type MetricsAccess = (typeof METRICS_ACCESS)[number];

export interface DashboardSpec {
  /** An address or a name of this machine. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Also on an address that other machines can reach. */
  readonly allowRemote: boolean;
  /** Files, absolute. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Origins under which a reverse proxy shows the page: `https://ops.example.com`. */
  readonly reverseProxy: readonly string[];
  /** Further names under which this machine is reached. */
  readonly hosts: readonly string[];
  readonly metrics: MetricsAccess;
}
