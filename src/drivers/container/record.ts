/** A run of a container on disk: one small file each, written before anything is asked of the Engine. */
import { type BootId, type ComponentName, RUN_ID_PATTERN, type RunId } from '../../base/pure/ids.ts';
import { RecordFiles } from '../../base/record-files.ts';
import type { LimitView } from '../../supervision/rules/views.ts';

export interface ContainerRecord {
  readonly v: 1;
  readonly run: RunId;
  readonly component: ComponentName;
  readonly boot_id: BootId;
  readonly spec_hash: string;
  /** The component's log. */
  readonly log: string;
  readonly limits: readonly LimitView[];
  /** The full id; null: none was chosen yet. */
  readonly container: string | null;
  /** When it had been started the last time before this run, in the Engine's text; null: not known yet. */
  readonly before: string | null;
  /** The Engine's text: with the id it names the run. Null: it has not begun, as far as is known. */
  readonly started_at: string | null;
}

export class Records extends RecordFiles<RunId, ContainerRecord> {
  constructor(dir: string) {
    super(dir, RUN_ID_PATTERN, ({ run }) => run);
  }

  /** Newest first. */
  override all(): readonly ContainerRecord[] {
    return super.all().toSorted((a, b) => stamp(b.run).localeCompare(stamp(a.run)));
  }
}

const stamp = (run: string): string => run.slice(run.lastIndexOf('~') + 1);
