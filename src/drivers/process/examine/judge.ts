/** Whether processes work, are stopped, or do nothing. */
import { formatDuration } from '../../../base/pure/format.ts';
import type { Identity } from '../proc.ts';
import { type Activity, isSame } from './activity.ts';

/** Together they use this part of one core: somebody works. A child that writes a line now and then uses far less. */
const BUSY_RATIO = 0.1;
/** Found running, or waiting for a processor, in this part of the looks: it works, even if the machine gives it little. */
const RUNNING_RATIO = 0.6;

/** `looks`: how many there were; one that was only there for a moment was not seen in all of them. */
export function busyText(activities: readonly Activity[], windowMs: number, looks: number): string | null {
  const usedMs = activities.reduce((sum, activity) => sum + activity.usedMs, 0);
  const most = activities.toSorted((a, b) => b.usedMs - a.usedMs)[0];
  if (most && usedMs >= windowMs * BUSY_RATIO) {
    const who = activities.length === 1 ? '' : `, most of it ${named(most)}`;
    return `busy: ${formatDuration(usedMs)} of CPU in ${formatDuration(windowMs)}${who}`;
  }
  const running = activities.find(({ states }) => states.split('R').length - 1 >= looks * RUNNING_RATIO);
  return running ? `busy: ${named(running)} is running or waits for a processor` : null;
}

const named = ({ pid, name }: Activity): string => `${pid} (${name})`;

/** Without pids: this becomes the reason of the end, and equal reasons should be equal. */
export function stoppedText(activities: readonly Activity[], main: Identity | null): string | null {
  const first = activities.find((activity) => main !== null && isSame(activity, main));
  if (first?.state === 'T') return 'its process is stopped (SIGSTOP)';
  return first?.state === 't' ? 'its process is held by a debugger' : null;
}
