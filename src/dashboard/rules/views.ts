/** Everything on one screen: what needs attention, and every component with its day. */

import type { Amount, Count, IsoTime } from '../../base/pure/json.ts';
import type { ComponentView, Condition, Health, RestartLimitView } from '../../supervision/rules/views.ts';

/** What somebody should look at. */
export interface AttentionView {
  /** incident: a problem with one cause. component: something is wrong with one, and there is no incident yet. daemon: with Keepwell itself. */
  readonly kind: 'incident' | 'component' | 'daemon';
  /** Of an incident. */
  readonly incident: Count | null;
  /** Whose it is first; null: it is the daemon's. */
  readonly name: string | null;
  /** In one line. */
  readonly title: string;
  /** Why; null: that is not known. */
  readonly cause: string | null;
  readonly since: IsoTime | null;
  /** Everybody else that it is about. */
  readonly affects: readonly string[];
  /** "BUG-003" */
  readonly ticket: string | null;
  readonly acknowledged: boolean;
  readonly silenced_until: IsoTime | null;
}

/** One component in one row, without what changes by itself from moment to moment. */
export interface OverviewRow {
  readonly name: string;
  readonly kind: ComponentView['kind'];
  readonly state: ComponentView['state'];
  readonly condition: Condition | null;
  readonly health: Health;
  readonly ready: boolean;
  readonly desired: ComponentView['desired'];
  readonly pid: Count | null;
  readonly started_at: IsoTime | null;
  /** Unplanned ones since the last start by hand. */
  readonly restarts: Count;
  /** Null: nobody restarts it. */
  readonly restart_limit: RestartLimitView | null;
  readonly next_attempt_at: IsoTime | null;
  readonly depends_on: Readonly<Record<string, string>>;
  readonly waiting_for: readonly string[];
  /** Something is wrong, or it is about to be; times in it are left out. */
  readonly note: string | null;
  readonly cpu_percent: Amount | null;
  readonly memory_bytes: Count | null;
  /** A letter for each bucket of the timeline: u up, t trouble, d down, s at rest, - nothing known. */
  readonly timeline: string;
  /** Of the time in the timeline in which it should have run; null: it never should. */
  readonly up_percent: Amount | null;
  /** The same of the last 7 days. */
  readonly up_percent_week: Amount | null;
  /** Over the timeline; null: nothing was measured then. */
  readonly cpu: readonly (Amount | null)[];
  readonly memory: readonly (Count | null)[];
}

/** Everything that one screen shows. */
export interface OverviewView {
  readonly schema_version: 1;
  readonly project: string;
  readonly daemon: {
    readonly version: string | null;
    readonly started_at: IsoTime | null;
    readonly pid: Count | null;
  };
  /** What the letters and curves of the components are about: a day, or less where all that is known is younger. */
  readonly timeline: { readonly from: IsoTime; readonly bucket_ms: Count; readonly buckets: Count };
  readonly attention: readonly AttentionView[];
  readonly components: readonly OverviewRow[];
}

/** What a caller may do, and where it has come to. */
export interface AccessView {
  readonly schema_version: 1;
  /** read: look at everything. control: also act. */
  readonly role: 'read' | 'control';
  readonly project: string;
  readonly version: string;
}

/** Where the page is. Whoever has the URL has its token. */
export interface PageView {
  readonly schema_version: 1;
  /** With the token behind the #, which a browser never sends: `http://127.0.0.1:7070/#token=…` */
  readonly url: string;
  /** Without it. */
  readonly address: string;
  readonly role: 'read' | 'control';
}
