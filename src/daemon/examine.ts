/** The evidence of a freeze: what the driver sees of its processes, and what the component says when it is asked where it is. */
import type { ComponentSpec } from '../core/component.ts';
import { redact } from '../core/redact.ts';
import type { Driver } from '../ports/driver.ts';
import type { Logs } from '../ports/logs.ts';
import type { RunnerWorld } from '../supervisor/component-runner.ts';

export interface ExaminerParts {
  readonly driver: Pick<Driver, 'examine'>;
  readonly logs: Logs;
  /** The position behind the last byte of the component's log. */
  logEnd(spec: ComponentSpec): number;
  /** Values that must never be shown. */
  secretsOf(spec: ComponentSpec): readonly string[];
}

/** A thread dump is long, and its beginning says most. */
const MAX_LINES = 100;
/** Of the log, before those of earlier are left out: others of its processes may talk as well. */
const TAIL_LINES = 1_000;
const MAX_LINE_CHARS = 300;

export const createExaminer =
  ({ driver, logs, logEnd, secretsOf }: ExaminerParts): RunnerWorld['examine'] =>
  async (spec, run, dump) => {
    const from = dump === null ? 0 : logEnd(spec);
    const { evidence, ...found } = await driver.examine(run, dump);
    const said = dump === null ? [] : await saidSince(spec.name, from, logs).catch(() => []);
    const title = said.length === 0 ? [`it wrote nothing after ${dump}`] : [`what it wrote after ${dump}:`];
    const all = dump === null ? evidence : [...evidence, ...title, ...said.map((line) => `  ${line}`)];
    // As one text: a secret that goes over several lines is seen as one.
    return { ...found, evidence: redact(all.join('\n'), secretsOf(spec)).split('\n') };
  };

async function saidSince(component: string, from: number, logs: Logs): Promise<readonly string[]> {
  await using cursor = logs.open({ components: [component], tail: TAIL_LINES, after: {} });
  const { lines } = await cursor.read();
  const since = lines.filter(({ offset }) => offset >= from).slice(0, MAX_LINES);
  return since.map(({ line }) => line.slice(0, MAX_LINE_CHARS));
}
