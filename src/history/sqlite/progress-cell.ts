/** What is remembered about the clocks, for the retention. */
import type { Progress } from '../rules/progress.ts';
import { isList, isObject, parsed } from './cells.ts';

/** Null: nothing that can be read, so counting begins anew and nothing is old for a while. */
export function readProgress(text: string | null): Progress | null {
  const isWhole = (value: unknown) =>
    isObject(value) && isObject(value['last']) && Number.isFinite(value['countedMs']) && isList(value['marks']);
  const progress = parsed<Progress | null>(text ?? undefined, null, isWhole);
  return progress !== null && progress.marks.length > 0 ? progress : null;
}
