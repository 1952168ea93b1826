/** Act 2: a worker meets data that its author did not think of. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatDuration } from '../../../base/pure/format.ts';
import { type Outcome, one, type Scene, timeOf, watch } from '../scene.ts';

const ORDER = { id: 1042, items: ['teapot'], customer: null };

export async function crash(scene: Scene): Promise<Outcome> {
  const { narrator, feed, place } = scene;
  narrator.say('"mailer" gets an order without a customer. It has a bug there, throws an error and is gone.');
  const { seq } = feed;
  const sinceMs = Date.now();
  putOrder(join(place.dir, 'outbox'));
  const seen = await watch(scene, {
    what: 'mailer to be ready again',
    component: 'mailer',
    after: seq,
    sinceMs,
    isLast: ({ type }) => type === 'component.ready',
  });
  const died = one(seen, 'component.exited');
  const wait = formatDuration(Number(one(seen, 'component.backing-off').data['in_ms']));
  const tookMs = timeOf(seen.at(-1)!) - timeOf(died);
  const pid = String(one(seen, 'component.started').data['pid']);
  narrator.good(`mailer works again as pid ${pid}, ${formatDuration(tookMs)} after its death`);
  return { broken: `mailer: ${String(died.data['exit'])}`, done: `restarted after ${wait} of backoff`, tookMs };
}

/** Written elsewhere first: the worker must not meet half an order. */
function putOrder(outbox: string): void {
  const draft = join(outbox, 'order-1042.draft');
  writeFileSync(draft, `${JSON.stringify(ORDER)}\n`);
  renameSync(draft, join(outbox, 'order-1042.json'));
}
