/** Waits for the daemon that systemd starts, and starts it through systemd where a unit is installed. */
import { ifRunning } from '../../api/client/client.ts';
import { isGone } from '../../api/client/event-reader.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { CliCall } from '../call.ts';
import { daemonIdentity } from '../daemon-end.ts';
import { pause } from '../interrupt.ts';
import { findInstalled } from './place.ts';
import { createSystemctl } from './systemctl.ts';

const START_LIMIT_MS = 30_000;
const POLL_MS = 50;

/** Resolves to the version of the daemon of this unit once it answers. */
export async function untilServed(call: CliCall, unit: string): Promise<string> {
  const until = performance.now() + START_LIMIT_MS;
  for (;;) {
    const version = daemonIdentity(call)?.service === unit ? await answered(call) : null;
    if (version !== null) return version;
    if (performance.now() > until) {
      const problem = `no daemon of it answered within ${START_LIMIT_MS / 1000} s`;
      throw new AppError('SERVICE_FAILED', { command: `systemctl start ${unit}`, unit, problem });
    }
    await pause(POLL_MS, call.signal);
  }
}

async function answered({ client }: CliCall): Promise<string | null> {
  try {
    return await ifRunning(client.version());
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** True: the project is a service, and its daemon answers. False: it is none, or cannot be started from here, which is said. */
export async function startInstalled(call: CliCall, project: string): Promise<boolean> {
  const installed = findInstalled(call, project, null);
  if (installed === null) return false;
  const { scope, path } = installed;
  const unit = path.slice(path.lastIndexOf('/') + 1);
  const systemctl = createSystemctl(scope, call.world.env);
  const isOurs = scope === 'user' || call.world.uid === 0;
  if (!isOurs || !(await systemctl.isRunning())) {
    const reason = isOurs ? 'systemd is not running here' : `only root can: sudo ${systemctl.line('start', unit)}`;
    call.note(`${unit} is installed, but is not started from here (${reason}); starting the daemon without it`);
    return false;
  }
  call.note(`starting ${unit}`);
  await systemctl.run('start', unit);
  await untilServed(call, unit);
  return true;
}
