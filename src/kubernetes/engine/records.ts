/** What a component's runs followed on Kubernetes, on disk: one small file each, written before a run is told of, so that no end is told twice. */

import { type ComponentName, NAME_PATTERN, type RunId } from '../../base/pure/ids.ts';
import { RecordFiles } from '../../base/record-files.ts';
import type { Life } from '../rules/pods.ts';

export interface ComponentFile {
  readonly v: 1;
  readonly component: ComponentName;
  /** The run that is not over, as far as is known. */
  readonly run: RunId | null;
  readonly spec_hash: string;
  readonly workload: 'Deployment' | 'Job';
  readonly object: string;
  readonly log: string;
  /** What the run follows; null: it has not begun there. */
  readonly life: Life | null;
  /** The last one that is over and recorded. */
  readonly last: Life | null;
  /** How far its output is written: the time of the last line, and how many lines had that time. */
  readonly written: { readonly stamp: string; readonly lines: number } | null;
}

export class ComponentFiles extends RecordFiles<ComponentName, ComponentFile> {
  constructor(dir: string) {
    super(dir, NAME_PATTERN, ({ component }) => component);
  }
}
