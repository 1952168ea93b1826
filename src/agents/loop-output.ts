/** Reads what agents of others wrote: into the log of the component that started them. */

import { componentOfRun, type RunId } from '../base/pure/ids.ts';
import { readTail } from '../logs/log-tail.ts';
import type { CrashTail } from '../logs/rules/tail.ts';
import type { ComponentSpec } from '../supervision/spec.ts';

/** The logs into which agents of others may write. */
export interface LoopLogs {
  /** The component whose log an agent writes into; `run`: that it belongs to. Null: its output goes elsewhere. */
  writerOf(run: RunId | null): string | null;
  /** The position behind the last byte of its log. */
  end(component: string): number;
  /** What was written behind this position. */
  since(component: string, position: number): CrashTail;
}

export interface LoopLogsParts {
  readonly logsDir: string;
  /** Values of this component's that must never be shown. */
  secretsOf(spec: ComponentSpec): readonly string[];
  logEnd(component: string): number;
  specOf(name: string): ComponentSpec | undefined;
  /** The component that spawns agents; null: none is named. */
  loop(): string | null;
}

export const loopLogs = ({ logsDir, secretsOf, logEnd, specOf, loop }: LoopLogsParts): LoopLogs => ({
  writerOf: (run) => {
    const name = run === null ? loop() : componentOfRun(run);
    return name !== null && specOf(name)?.driver.kind === 'process' ? name : null;
  },
  end: logEnd,
  since: (component, position) => {
    const spec = specOf(component);
    return readTail(logsDir, component, spec ? secretsOf(spec) : [], { since: position });
  },
});
