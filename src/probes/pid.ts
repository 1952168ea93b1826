/** Passes while the main process is there. A zombie is not. That of a container may be on another machine: its run ends with it. */

import type { Inquiry, ProbeTarget } from '../supervision/ports/prober.ts';
import { runsInContainer } from '../supervision/spec.ts';
import { fail, pass } from './answers.ts';
import { inquiry } from './inquiry.ts';

export const pidInquiry = ({ pid, spec }: ProbeTarget, isAlive: (pid: number) => boolean): Inquiry =>
  inquiry(async () => {
    if (runsInContainer(spec.driver)) return pass('its container runs');
    if (pid === null) return fail('it has no process');
    return isAlive(pid) ? pass(`process ${pid} is there`) : fail(`process ${pid} is gone`);
  });
