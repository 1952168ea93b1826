/** The report of the checks without a daemon: how components are is read from the records and from /proc. */
import type { Project } from '../base/home.ts';
import { silentLog } from '../base/log.ts';
import { type LocalReportOptions, reportLocally } from '../checks/local.ts';
import type { HealthReport } from '../checks/spec.ts';
import { loadConfig, type ResolvedConfig } from '../config/load.ts';
import { localTelemetry } from '../telemetry/switched.ts';

/** `whose`: whose environment `env` is, for people. */
export interface LocalOptions extends Pick<LocalReportOptions, 'env' | 'query' | 'signal' | 'whose'> {
  readonly project: Project;
  /** A configuration that was read already. */
  readonly config?: ResolvedConfig;
  /** A part of another program, whose own telemetry is used when it has any. */
  readonly hosted: boolean;
}

/** Throws a ConfigError, NO_SUCH_CHECK, or the signal's reason. Leaves nothing behind, also then. */
export async function localHealth(options: LocalOptions): Promise<HealthReport> {
  const { project, env, hosted } = options;
  const config = options.config ?? loadConfig({ ...project, env });
  const telemetry = localTelemetry(config, { env, hosted, log: silentLog, instance: project.home });
  const components = async () => {
    const { openOffline } = await import('./offline.ts');
    const offline = await openOffline(project, env);
    return (await offline.status().finally(() => offline.close())).components;
  };
  try {
    return await reportLocally({ ...options, config, components, observer: telemetry.checks });
  } finally {
    await telemetry.close();
  }
}
