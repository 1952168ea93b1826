/** A daemon inside the caller's process: the same parts, without guardian and signals, which are the caller's business. */
import { dirname, join, resolve } from 'node:path';
import { loadConfig, loadConfigFromTexts, type ResolvedConfig } from '../config/load.ts';
import { AppError } from '../core/errors.ts';
import { openDaemonLog } from '../daemon/daemon-log.ts';
import { parseFailpoints } from '../daemon/failpoints.ts';
import { type Project, readDaemonFile } from '../daemon/home.ts';
import { prepareHome } from '../daemon/home-dir.ts';
import { type Ending, startDaemon } from '../daemon/run.ts';
import type { KeepwellConfig } from './config-input.ts';
import type { OpenOptions } from './options.ts';

export interface InProcess {
  readonly socket: string;
  /** Ends it, if nobody has done so yet, and resolves when it has ended. */
  end(how: Ending): Promise<void>;
}

type Config = string | readonly string[] | KeepwellConfig;

export async function openInProcess(config: Config, options: OpenOptions): Promise<InProcess> {
  if (process.platform !== 'linux') throw new AppError('PLATFORM_UNSUPPORTED', { platform: process.platform });
  const { project, fixed } = read(config, options);
  const paths = prepareHome(project);
  const log = openDaemonLog(paths.daemonLog);
  try {
    const daemon = await startDaemon({
      project,
      paths,
      env: process.env,
      log,
      ...(fixed ? { config: fixed } : {}),
      failpoints: parseFailpoints(process.env['KEEPWELL_FAILPOINTS']),
      onDemand: false,
      respawned: false,
      guardianPid: () => null,
      hosted: true,
      // Half a step was done: nobody may go on deciding here. Components are untouched; who opens the project next finds them.
      fatal: (error) =>
        setImmediate(() => {
          throw error;
        }),
    });
    let over: Promise<void> | null = null;
    const end = (how: Ending): Promise<void> => {
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

/** Whatever is wrong with the configuration is said before anything is touched. */
function read(config: Config, options: OpenOptions): { project: Project; fixed: ResolvedConfig | null } {
  const base = resolve(options.cwd ?? process.cwd());
  const given = options.home ?? process.env['KEEPWELL_HOME'];
  const homeBeside = (file: string) => (given === undefined ? join(dirname(file), '.keepwell') : resolve(base, given));
  const { env } = process;
  if (isFiles(config)) {
    const files = [config].flat().map((file) => resolve(base, file as string));
    loadConfig({ files, env });
    return { project: { files, home: homeBeside(files[0]!) }, fixed: null };
  }
  const path = join(base, '(configuration object)');
  const fixed = loadConfigFromTexts({ files: [{ path, text: textOf(config) }], dotenv: null, env });
  return { project: { files: [path], home: homeBeside(path) }, fixed };
}

const isFiles = (config: Config): config is string | readonly string[] =>
  typeof config === 'string' || Array.isArray(config);

/** Dollars are doubled: an object has had its variables filled in by the language it was written in. */
const textOf = (config: KeepwellConfig): string =>
  JSON.stringify(config, (_, value: unknown) => (typeof value === 'string' ? value.replaceAll('$', '$$$$') : value), 2);
