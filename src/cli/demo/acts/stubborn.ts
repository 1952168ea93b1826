/** Act 5: a process that does not want to end, and two more that it has started. */
import { AppError } from '../../../base/pure/errors.ts';
import { formatDuration } from '../../../base/pure/format.ts';
import { isAlive } from '../processes.ts';
import { type Outcome, one, type Scene, timeOf, watch } from '../scene.ts';

export async function stopStubborn(scene: Scene): Promise<Outcome> {
  const { narrator, feed, product } = scene;
  const [{ pid }, helpers] = await Promise.all([product.component('indexer'), helpersOf(scene)]);
  const tree = [...(pid === null ? [] : [pid]), ...helpers];
  narrator.say(`"indexer" and its helpers (pids ${tree.join(', ')}) all ignore SIGTERM.`);
  narrator.command('stop indexer');
  const { seq } = feed;
  const sinceMs = Date.now();
  const [seen] = await Promise.all([
    watch(scene, {
      what: 'indexer to be stopped',
      component: 'indexer',
      after: seq,
      sinceMs,
      isLast: ({ type }) => type === 'component.stopped',
    }),
    product.ask(['stop', 'indexer']),
  ]);
  const tookMs = timeOf(seen.at(-1)!) - timeOf(one(seen, 'component.stopping'));
  const grace = formatDuration(Number(one(seen, 'component.killed').data['grace_ms']));
  const left = tree.filter(isAlive);
  if (left.length > 0) throw new AppError('DEMO_FAILED', { problem: `still there: pids ${left.join(', ')}.` });
  narrator.good(`all ${tree.length} processes are gone, ${formatDuration(tookMs)} after the stop was asked for`);
  return {
    broken: 'indexer: ignored SIGTERM',
    done: `SIGKILL to all ${tree.length} processes after ${grace} of grace`,
    tookMs,
  };
}

/** It said itself who they are: "indexer: at work, helpers 4711 4712". */
async function helpersOf({ product }: Scene): Promise<number[]> {
  const log = await product.text(['logs', 'indexer']);
  const said = [...log.matchAll(/helpers (\d+) (\d+)/g)].at(-1);
  return (said?.slice(1) ?? []).map(Number);
}
