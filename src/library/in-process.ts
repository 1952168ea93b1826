/** A daemon inside the caller's process: the same parts, without guardian and signals, which are the caller's business. */

import { openDaemonLog } from '../base/daemon-log.ts';
import { parseFailpoints } from '../base/failpoints.ts';
import { readDaemonFile } from '../base/home.ts';
import { prepareHome } from '../base/home-dir.ts';
import { AppError } from '../base/pure/errors.ts';
import type { Ending } from '../daemon/assemble.ts';
import { startDaemon } from '../daemon/run.ts';
import type { OpenOptions } from './options.ts';
import { type ConfigInput, readConfigInput } from './read-config.ts';

export interface InProcess {
  readonly socket: string;
  /** Ends it, if nobody has done so yet, and resolves when it has ended, with the sessions that could not be. */
  end(how: Ending): Promise<readonly string[]>;
}

export interface StartMode {
  /** Components that nobody ever asked for are not started. */
  readonly onDemand: boolean;
}

export async function openInProcess(
  input: ConfigInput,
  options: OpenOptions,
  { onDemand }: StartMode = { onDemand: false },
): Promise<InProcess> {
  if (process.platform !== 'linux') throw new AppError('PLATFORM_UNSUPPORTED', { platform: process.platform });
  const { project, config, isFixed } = readConfigInput(input, options);
  const paths = prepareHome(project);
  const log = openDaemonLog(paths.daemonLog);
  try {
    const daemon = await startDaemon({
      project,
      paths,
      env: process.env,
      log,
      ...(isFixed ? { config } : {}),
      failpoints: parseFailpoints(process.env['KEEPWELL_FAILPOINTS']),
      onDemand,
      respawned: false,
      guardianPid: () => null,
      hosted: true,
      // Half a step was done: nobody may go on deciding here. Components are untouched; who opens the project next finds them.
      fatal: (error) =>
        setImmediate(() => {
          throw error;
        }),
    });
    let over: ReturnType<InProcess['end']> | null = null;
    const end = (how: Ending) => {
      over ??= daemon.end(how).finally(() => log[Symbol.dispose]());
      return over;
    };
    void daemon.asked.then(end);
    return { socket: readDaemonFile(paths)!.socket, end };
  } catch (error) {
    log[Symbol.dispose]();
    throw error;
  }
}
