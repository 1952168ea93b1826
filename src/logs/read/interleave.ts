/** The lines of several components in the order of their times. Those of one component stay in theirs, whatever the clock did. */
import type { LogLineView } from '../ports.ts';
import type { ComponentReader } from './reader.ts';

interface Lane {
  readonly reader: ComponentReader;
  lines: readonly LogLineView[];
  at: number;
  more: boolean;
  /** The latest time so far: where this lane stands in the whole. */
  key: number;
}

/** Until the end of each; then also what stands there without a line break. Holds about `biteBytes` of each at a time. */
export async function* interleaved(
  readers: readonly ComponentReader[],
  biteBytes: number,
): AsyncGenerator<LogLineView, void, undefined> {
  const lanes: Lane[] = readers.map((reader) => ({
    reader,
    lines: [],
    at: 0,
    more: true,
    key: Number.NEGATIVE_INFINITY,
  }));
  await Promise.all(lanes.map((lane) => fill(lane, biteBytes)));
  for (let live = lanes.filter(hasLine); live.length > 0; live = live.filter(hasLine)) {
    // The first of equals, so that equal times keep the order of the names.
    const lane = live.reduce((first, one) => (one.key < first.key ? one : first));
    yield lane.lines[lane.at++]!;
    if (hasLine(lane)) advance(lane);
    else await fill(lane, biteBytes);
  }
}

const hasLine = ({ lines, at }: Lane): boolean => at < lines.length;

async function fill(lane: Lane, biteBytes: number): Promise<void> {
  lane.at = 0;
  lane.lines = [];
  while (lane.more && lane.lines.length === 0) {
    const { lines, more } = await lane.reader.read(biteBytes);
    [lane.lines, lane.more] = [more ? lines : [...lines, ...(await lane.reader.rest())], more];
  }
  if (hasLine(lane)) advance(lane);
}

function advance(lane: Lane): void {
  const { at } = lane.lines[lane.at]!;
  if (at !== null) lane.key = Math.max(lane.key, Date.parse(at));
}

/** The same for lines that have been read already. */
export function inOrder(lists: readonly (readonly LogLineView[])[]): readonly LogLineView[] {
  if (lists.length === 1) return lists[0]!;
  return lists
    .flatMap((lines) => {
      let key = Number.NEGATIVE_INFINITY;
      return lines.map((line) => {
        if (line.at !== null) key = Math.max(key, Date.parse(line.at));
        return { line, key };
      });
    })
    .sort((a, b) => (a.key === b.key ? 0 : a.key - b.key))
    .map(({ line }) => line);
}
