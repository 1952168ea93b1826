/** The evidence of a freeze: what the driver sees of its processes, and what the component says when it is asked where it is. */

import { redact } from '../base/pure/redact.ts';
import type { Logs } from '../logs/ports.ts';
import type { RunnerWorld } from '../supervision/component-runner.ts';
import type { Driver } from '../supervision/ports/driver.ts';
import type { ComponentSpec } from '../supervision/spec.ts';

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
const MAX_LINE_CHARS = 300;
/** Of each line before secrets are looked for: half of one, left at a cut, would not be recognised. */
const MAX_RAW_CHARS = 4_000;

export const createExaminer =
  ({ driver, logs, logEnd, secretsOf }: ExaminerParts): RunnerWorld['examine'] =>
  async (spec, run, dump) => {
    const from = dump === null ? 0 : logEnd(spec);
    const { evidence, ...found } = await driver.examine(run, dump);
    const secrets = secretsOf(spec);
    const seen = evidence.map((line) => redact(line, secrets).replace(/\s*\n\s*/g, ' '));
    const said = dump === null ? [] : await saidSince(spec.name, from, logs).catch(() => []);
    // As one text: a secret that goes over several lines is seen as one.
    const wrote = said.length === 0 ? [] : redact(said.join('\n'), secrets).split('\n');
    const title = wrote.length === 0 ? `it wrote nothing after ${dump}` : `what it wrote after ${dump}:`;
    const all = dump === null ? seen : [...seen, title, ...wrote.map((line) => `  ${line}`)];
    return { ...found, evidence: all.map((line) => line.slice(0, MAX_LINE_CHARS)) };
  };

/** The lines that begin at `from` or later; one bite of them has to do. */
async function saidSince(component: string, from: number, logs: Logs): Promise<readonly string[]> {
  const after = from === 0 ? {} : { [component]: from - 1 }; // the break before it
  await using cursor = logs.open({ components: [component], tail: Number.MAX_SAFE_INTEGER, after });
  const { lines } = await cursor.read();
  const since = lines.filter(({ offset }) => offset >= from).slice(0, MAX_LINES);
  return since.map(({ line }) => line.slice(0, MAX_RAW_CHARS));
}
