/** What the state of a component means for a check about it, and the checks there are when the configuration names none. */
import type { ComponentName } from '../ids.ts';
import type { ComponentView } from '../views.ts';
import type { CheckResult, CheckSpec } from './check.ts';
import { failed, ok } from './results.ts';

type Seen = Pick<
  ComponentView,
  'name' | 'state' | 'health' | 'ready' | 'unknown_since' | 'desired' | 'condition' | 'note'
>;

/** One check for each component, by its name. */
export const implicitChecks = (names: readonly string[], timeoutMs: number): readonly CheckSpec[] =>
  names.map((name) => ({
    name,
    needs: [],
    question: { kind: 'component', component: name as ComponentName },
    hint: null,
    timeoutMs,
  }));

/** Only what can be used now is ok: one that is stopped, also by hand, and one whose health nobody knows, is not. */
export function judgeComponent(view: Seen): CheckResult {
  const { name, state, condition, note } = view;
  const said = note === null ? '' : `: ${note}`;
  switch (state) {
    case 'running':
      return condition === null || condition === 'daemonised' ? judgeRunning(view) : failed(`${condition}${said}`);
    case 'completed':
      return ok('completed');
    case 'stopped':
      return judgeStopped(view);
    case 'gave-up':
      return failed(`gave up${said}`, `run "keepwell why ${name}"`);
    case 'backing-off':
      return failed(`not running${said}`, `run "keepwell why ${name}"`);
    case 'waiting':
    case 'starting':
    case 'stopping':
      return failed(`${state}${said}`);
    default:
      throw new Error(`no such state: ${state satisfies never}`);
  }
}

function judgeRunning({ name, health, ready, unknown_since, note }: Seen): CheckResult {
  if (health === 'healthy' && ready) return ok('running and ready');
  const said = note === null ? '' : `: ${note}`;
  const advice = `run "keepwell status ${name} --verbose"`;
  if (health === 'healthy') return failed(`running, but not ready${said}`, advice);
  if (health === 'unknown' && unknown_since !== null) return failed(`its health is not known${said}`, advice);
  if (health === 'unknown')
    return failed(`its health is not known${said}`, 'run "keepwell status" to see whether a daemon watches it');
  return failed(`running, but ${health === 'starting' ? 'still starting' : 'unhealthy'}${said}`, advice);
}

/** Without a daemon a component that is wanted can be stopped: nobody is there to start it. */
function judgeStopped({ name, desired, note }: Seen): CheckResult {
  if (desired === 'stopped' && note === null) return failed('stopped', `run "keepwell up ${name}"`);
  return failed(`not running${note === null ? '' : `: ${note}`}`, 'run "keepwell up"');
}
