/**
 * Is a component well? The one rule behind `keepwell health` and `keepwell status --exit-code`. Only what is known to be usable is
 * well: one whose health nobody knows is not, nor is one that never becomes ready.
 */
import type { ComponentView } from './views.ts';

export type WellbeingView = Pick<
  ComponentView,
  'name' | 'state' | 'health' | 'ready' | 'unknown_since' | 'desired' | 'condition' | 'note'
>;

export type Wellbeing =
  /** It does what it is there for, or has done it. */
  | { readonly kind: 'well'; readonly message: string }
  /**
   * sick: it failed, or runs and cannot be relied on; down: it is wanted and not (yet) up; unwanted: somebody stopped it.
   * `advice`: what to do, if there is something.
   */
  | { readonly kind: 'sick' | 'down' | 'unwanted'; readonly message: string; readonly advice?: string };

export function wellbeing(view: WellbeingView): Wellbeing {
  const { name, state, health, desired, condition } = view;
  const why = `run "keepwell why ${name}"`;
  const message = withNote(state, view);
  switch (state) {
    case 'running':
      if (condition === null || condition === 'daemonised') return whileRunning(view);
      return { kind: 'sick', message: withNote(condition, view) };
    case 'completed':
      return { kind: 'well', message: 'completed' };
    case 'stopped':
      return whenStopped(view);
    case 'gave-up':
      return { kind: 'sick', message: withNote('gave up', view), advice: why };
    case 'backing-off':
      return { kind: 'sick', message: withNote('not running', view), advice: why };
    case 'waiting':
      return { kind: 'down', message };
    case 'starting':
      return { kind: 'down', message: health === 'unhealthy' ? withNote('not running', view) : message };
    case 'stopping':
      if (health === 'unhealthy' || condition !== null) return { kind: 'sick', message };
      return { kind: desired === 'running' ? 'down' : 'unwanted', message };
    default:
      throw new Error(`no such state: ${state satisfies never}`);
  }
}

function whileRunning(view: WellbeingView): Wellbeing {
  const { name, health, ready } = view;
  const advice = `run "keepwell status ${name} --verbose"`;
  switch (health) {
    case 'healthy':
      if (ready) return { kind: 'well', message: 'running and ready' };
      return { kind: 'sick', message: withNote('running, but not ready', view), advice };
    case 'starting':
      return { kind: 'down', message: withNote('running, but still starting', view), advice };
    case 'unhealthy':
      return { kind: 'sick', message: withNote('running, but unhealthy', view), advice };
    case 'unknown':
      return {
        kind: 'sick',
        message: withNote('its health is not known', view),
        advice: unwatchedAdvice(view) ?? advice,
      };
    default:
      throw new Error(`no such health: ${health satisfies never}`);
  }
}

/** Without a daemon a component that is wanted can be stopped: nobody is there to start it. */
function whenStopped(view: WellbeingView): Wellbeing {
  const { name, desired, note } = view;
  const kind = desired === 'running' ? 'down' : 'unwanted';
  if (desired === 'stopped' && note === null) return { kind, message: 'stopped', advice: `run "keepwell up ${name}"` };
  return { kind, message: withNote('not running', view), advice: unwatchedAdvice(view) ?? 'run "keepwell up"' };
}

/** How a note ends that was written without the daemon. */
export const NO_DAEMON = 'no daemon is running';
export const DAEMON_SILENT = 'the daemon does not answer';

function unwatchedAdvice({ note }: WellbeingView): string | null {
  if (note?.endsWith(NO_DAEMON)) return 'run "keepwell up"';
  if (note?.endsWith(DAEMON_SILENT))
    return 'run "keepwell logs --daemon"; a daemon that hangs is replaced by its guardian';
  return null;
}

/** The note often begins with the very word. */
function withNote(what: string, { note }: WellbeingView): string {
  if (note === null) return what;
  return note.startsWith(what) ? note : `${what}: ${note}`;
}
