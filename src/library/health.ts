/** "Is it healthy?" for programs: with a daemon or without one. */
import { createClient } from '../api/client/client.ts';
import { daemonHealth } from '../api/client/daemon-health.ts';
import { daemonSocket, findProject, type Project } from '../base/home.ts';
import { checkGraph, orderOf } from '../checks/rules/plan.ts';
import { checksOf } from '../checks/service.ts';
import type { HealthReport } from '../checks/spec.ts';
import type { ResolvedConfig } from '../config/load.ts';
import type { HealthOptions } from './options.ts';
import { type ConfigInput, readConfigInput } from './read-config.ts';

/**
 * Asks the checks of a project: its daemon when there is one that answers, otherwise from this process. Resolves also when it is unhealthy;
 * rejects with NO_SUCH_CHECK, and with CONFIG_INVALID when there is no daemon and the configuration cannot be used.
 *
 * @example
 * const { status, checks } = await getHealth();
 * if (status !== 'healthy') console.error(checks);
 */
export async function getHealth(options: HealthOptions = {}): Promise<HealthReport> {
  const { checks = [], withDeps = false, timeoutMs, local = false, signal } = options;
  const query = { checks, withDeps, timeoutMs };
  const given = options.config === undefined ? null : readConfigInput(options.config, options);
  const project = given?.project ?? projectOf(options);
  if (!local && given?.isFixed !== true) {
    const answer = await daemonHealth(createClient(socketOf(project), signal), query);
    if ('report' in answer) return answer.report;
  }
  const { localHealth } = await import('../daemon/health-report.ts');
  return await localHealth({
    project,
    ...(given === null ? {} : { config: given.config }),
    env: process.env,
    query,
    signal: signal ?? new AbortController().signal,
    whose: 'this process',
    hosted: true,
  });
}

/** The names of the checks, each after all that it needs; otherwise in the order of the configuration. */
export function checkOrder(config: ResolvedConfig | ConfigInput): readonly string[] {
  return orderOf(checksOf(resolved(config)));
}

/** Which checks each check needs, by name. */
export function checkDependencies(config: ResolvedConfig | ConfigInput): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(checkGraph(checksOf(resolved(config))));
}

const resolved = (config: ResolvedConfig | ConfigInput): ResolvedConfig =>
  isResolved(config) ? config : readConfigInput(config, {}).config;

const isResolved = (config: ResolvedConfig | ConfigInput): config is ResolvedConfig =>
  typeof config === 'object' && 'baseDir' in config;

function projectOf({ cwd = process.cwd(), home }: HealthOptions): Project {
  const env = home === undefined ? process.env : { ...process.env, KEEPWELL_HOME: home };
  return findProject({ cwd, files: [], env });
}

const socketOf = ({ home }: Project): string => daemonSocket(home, process.env, process.getuid?.() ?? 0);
