/** Holds an answer back until a component has come where somebody wants it. */
import type { ServerResponse } from 'node:http';
import { AppError } from '../base/pure/errors.ts';
import { gaveUp, judgeGoal, keepsCrashing, type WaitGoal, waitedTooLong, watchFrom, watchOn } from '../supervision/rules/goal.ts';
import type { ComponentView } from '../supervision/rules/views.ts';
import type { Services } from './route.ts';

/** Every event is a reason to look again; this is for what changes without one. */
const LOOK_MS = 250;

export interface Wish {
  readonly component: string;
  readonly goal: WaitGoal;
  readonly timeoutMs: number;
}

/** Looks at once, and then whenever something happened to it. Rejects when it gave up, the time is up, or the server closes. */
export function awaitGoal(
  look: () => ComponentView,
  { component, goal, timeoutMs }: Wish,
  response: ServerResponse,
  { control, streams }: Pick<Services, 'control' | 'streams'>,
): Promise<ComponentView> {
  return new Promise((resolve, reject) => {
    const until = performance.now() + timeoutMs;
    let watch = watchFrom(null);
    let isFirst = true;
    const check = (): void => {
      try {
        const view = look();
        watch = isFirst ? watchFrom(view) : watchOn(watch, view);
        isFirst = false;
        const verdict = judgeGoal(view, goal, watch);
        if (verdict === 'reached') settle(() => resolve(view));
        else if (verdict === 'given-up') throw gaveUp(view);
        else if (verdict === 'crashing')
          throw keepsCrashing(view, watch, control.history.crashes({ component: view.name, limit: 1 })[0]);
        else if (performance.now() >= until) throw waitedTooLong(view.name, view, timeoutMs);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const closing = (): void => settle(() => reject(new AppError('DAEMON_CLOSING')));
    const timer = setInterval(check, Math.min(LOOK_MS, Math.max(1, timeoutMs)));
    // Of all the others nothing is heard: with many that wait and many that crash, looking at each event would be all we do.
    const unsubscribe = control.subscribe(({ subject }) => {
      if (subject.name === component) check();
    });
    const settle = (finish: () => void): void => {
      clearInterval(timer);
      unsubscribe();
      finish();
    };
    try {
      streams.add(response, closing);
    } catch (error) {
      settle(() => reject(error));
      return;
    }
    response.once('close', closing); // whoever asked is gone; after an answer this changes nothing
    check();
  });
}
