/** Act 3: a server hangs. Its process lives on, so only somebody who asks can notice. */
import { formatDuration } from '../../../base/pure/format.ts';
import type { ProbeView } from '../../../supervision/rules/views.ts';
import { pause } from '../../interrupt.ts';
import { ask, hit } from '../http.ts';
import { type Outcome, one, type Scene, timeOf, watch } from '../scene.ts';

const LOOK_MS = 100;

export async function hang(scene: Scene): Promise<Outcome> {
  const { narrator, feed, ports, product } = scene;
  const { pid: before } = await product.component('reports');
  narrator.say(
    `"reports" is asked for a report that makes it wait for a lock for ever. Pid ${before} stays alive, and answers nobody.`,
  );
  const { seq } = feed;
  const sinceMs = Date.now();
  hit(ports.reports, '/report?month=13');
  await tellFailures(scene, sinceMs);
  const seen = await watch(scene, {
    what: 'reports to be ready again',
    component: 'reports',
    after: seq,
    sinceMs,
    isLast: ({ type }) => type === 'component.ready',
  });
  const tookMs = timeOf(seen.at(-1)!) - sinceMs;
  const reason = String(one(seen, 'component.exited').data['unhealthy']);
  const pid = String(one(seen, 'component.started').data['pid']);
  const answer = await ask(ports.reports, '/healthz', scene.signal);
  narrator.good(`reports answers again (HTTP ${answer}) as pid ${pid}, ${formatDuration(tookMs)} after it hung`);
  return { broken: 'reports: hung, pid alive', done: `ended and restarted: ${inShort(reason)}`, tookMs };
}

/** "liveness http :8080/healthz failed 3 times: no answer within 1 s" → "liveness failed 3 times" */
const inShort = (reason: string): string => reason.replace(/^(\w+) .* (failed \d+ times?):.*$/, '$1 $2');

/** Tells the failed answers of the liveness probe while they come, until there were enough of them. */
async function tellFailures({ product, narrator, signal }: Scene, sinceMs: number): Promise<void> {
  await narrator.during('Keepwell to notice', async () => {
    for (let told = 0; ; ) {
      const { probes, state } = await product.component('reports');
      const liveness = probes.find(({ role }) => role === 'liveness');
      if (liveness === undefined || state !== 'running') return;
      if (liveness.failures > told && liveness.last) {
        told = liveness.failures;
        narrator.event(Date.parse(liveness.last.at) - sinceMs, failureText(liveness));
      }
      await pause(LOOK_MS, signal);
    }
  });
}

const failureText = ({ failures, failure_threshold: enough, last }: ProbeView): string =>
  `reports: liveness probe: ${last?.message} (${failures} of ${enough})`;
