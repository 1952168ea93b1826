/** Waits for the daemon that systemd starts, and starts it through systemd where a unit is installed. */
import { ifRunning } from '../../api/client/client.ts';
import { isGone } from '../../api/client/event-reader.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { Session } from '../call.ts';
import { daemonIdentity } from '../daemon-end.ts';
import { pause } from '../interrupt.ts';
import { findInstalled } from './place.ts';
import { createSystemctl } from './systemctl.ts';

const START_LIMIT_MS = 30_000;
const POLL_MS = 50;

/** Resolves to the version of the daemon of this unit once it answers. */
export async function untilServed(session: Session, unit: string): Promise<string> {
  const until = performance.now() + START_LIMIT_MS;
  for (;;) {
    const version = daemonIdentity(session)?.service === unit ? await answered(session) : null;
    if (version !== null) return version;
    if (performance.now() > until) {
      const problem = `no daemon of it answered within ${START_LIMIT_MS / 1000} s`;
      throw new AppError('SERVICE_FAILED', { command: `systemctl start ${unit}`, unit, problem });
    }
    await pause(POLL_MS, session.signal);
  }
}

async function answered({ client }: Session): Promise<string | null> {
  try {
    return await ifRunning(client.version());
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** True: the project is a service, and its daemon answers. False: it is none, or cannot be started from here, which is said. */
export async function startInstalled(session: Session, project: string): Promise<boolean> {
  const installed = findInstalled(session, project, null);
  if (installed === null) return false;
  const { scope, path } = installed;
  const unit = path.slice(path.lastIndexOf('/') + 1);
  const systemctl = createSystemctl(scope, session.world.env);
  const isOurs = scope === 'user' || session.world.uid === 0;
  if (!isOurs || !(await systemctl.isRunning())) {
    const reason = isOurs ? 'systemd is not running here' : `only root can: sudo ${systemctl.line('start', unit)}`;
    session.note(`${unit} is installed, but is not started from here (${reason}); starting the daemon without it`);
    return false;
  }
  session.note(`starting ${unit}`);
  await systemctl.run('start', unit);
  await untilServed(session, unit);
  return true;
}
