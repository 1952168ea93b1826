/** Act 4: Keepwell itself is killed, and nothing it keeps takes notice. */
import { AppError } from '../../../base/pure/errors.ts';
import { formatDuration } from '../../../base/pure/format.ts';
import type { ComponentView, EventView, StatusView } from '../../../supervision/rules/views.ts';
import { pause } from '../../interrupt.ts';
import { ask } from '../http.ts';
import { type Outcome, type Scene, timeOf } from '../scene.ts';

const ASK_MS = 25;

export async function killDaemon(scene: Scene): Promise<Outcome> {
  const { narrator, feed, product } = scene;
  const before = await product.status();
  const { pid } = before.daemon;
  if (pid === null) throw new AppError('DEMO_FAILED', { problem: 'there is no daemon to kill.' });
  narrator.say(`The daemon, pid ${pid}, is killed with kill -9: no warning, nothing saved before.`);
  const { seq } = feed;
  const sinceMs = Date.now();
  process.kill(pid, 'SIGKILL');
  const { back, asked, answered } = await untilBack(scene, seq);
  const tookMs = timeOf(back) - sinceMs;
  narrator.event(tookMs, `a new daemon, pid ${String(back.data['pid'])}, has taken over`);
  const after = await product.status();
  const same = after.components.filter((component) => isUntouched(component, before));
  for (const component of same) narrator.say(`${component.name.padEnd(8)} adopted, still pid ${component.pid}`);
  const others = after.components.filter((component) => !same.includes(component));
  for (const { name, last_restart } of others) narrator.bad(`${name}: ${last_restart?.reason ?? 'not the same run'}`);
  const kept = `${same.length} of ${after.components.length}`;
  narrator.good(
    `Keepwell is back after ${formatDuration(tookMs)}; ${kept} components did not notice. ` +
      `Meanwhile web answered ${answered} of ${asked} requests.`,
  );
  return { broken: 'daemon: kill -9', done: `a new daemon adopted ${kept}, restarted ${others.length}`, tookMs };
}

function isUntouched({ name, pid, adopted, run_id, restarts }: ComponentView, before: StatusView): boolean {
  const earlier = before.components.find((component) => component.name === name);
  return adopted && earlier?.pid === pid && earlier.run_id === run_id && earlier.restarts === restarts;
}

/** Meanwhile the web server is asked again and again, as its visitors would. */
async function untilBack({ feed, narrator, ports, signal }: Scene, seq: number) {
  let [asked, answered, isBack] = [0, 0, false];
  const visits = async (): Promise<void> => {
    while (!isBack) {
      asked += 1;
      if ((await ask(ports.web, '/', signal)) === 200) answered += 1;
      await pause(ASK_MS, signal);
    }
  };
  const started = async (): Promise<EventView> => {
    try {
      for await (const event of feed.after(seq)) if (event.type === 'daemon.started') return event;
      throw new AppError('DEMO_FAILED', { problem: 'the events ended.' });
    } finally {
      isBack = true;
    }
  };
  const [back] = await narrator.during('the guardian to bring the daemon back', () =>
    Promise.all([started(), visits()]),
  );
  return { back, asked, answered };
}
