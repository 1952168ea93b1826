/** Turns a specification into everything one run needs: files are read again at each start. */
import { join } from 'node:path';
import { machineFault } from '../base/pure/errno.ts';
import type { SpawnProblem } from '../base/pure/exit.ts';
import type { RunId } from '../base/pure/ids.ts';
import { containerHash, specHash } from '../config/fingerprint.ts';
import { readEnvFiles } from '../config/load.ts';
import type { Confinement, Launch } from '../supervision/ports/driver.ts';
import type { Attempt } from '../supervision/rules/lifecycle/state.ts';
import { type ComponentSpec, runsInContainer } from '../supervision/spec.ts';
import { accountVariables } from './process/account/account.ts';
import { precheck } from './process/precheck.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The daemon's environment without its own variables: those are between us and our guardian. */
export function baseEnvironment(env: Environment): Readonly<Record<string, string>> {
  const ours = (name: string) => name.startsWith('KEEPWELL_');
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || ours(name) ? [] : [[name, value]])),
  );
}

/** Everything a run of this component sees, or what is wrong with its env files or its user. */
export function environmentOf(
  { driver }: ComponentSpec,
  base: Readonly<Record<string, string>>,
): { readonly env: Readonly<Record<string, string>> } | SpawnProblem {
  const account = accountVariables(driver.kind === 'process' ? driver : {});
  if ('heals' in account) return account;
  try {
    // What is in this daemon's environment is of this machine: a container has that of its image.
    const isElsewhere = runsInContainer(driver) || driver.kind === 'kubernetes';
    const inherited = isElsewhere ? {} : { ...base, ...account.variables };
    return { env: { ...inherited, ...readEnvFiles(driver.envFiles), ...driver.env } };
  } catch (error) {
    return { code: 'env-file', message: (error as Error).message, heals: machineFault(error) !== null };
  }
}

/** Who gives its heartbeat by ping is told where; `keepwell beat` and curl find it by this. */
export const withSocket = (
  { heartbeat }: ComponentSpec,
  base: Readonly<Record<string, string>>,
  socket: string,
): Readonly<Record<string, string>> =>
  heartbeat?.source.kind === 'ping' ? { ...base, KEEPWELL_SOCKET: socket } : base;

export function launchRun(
  spec: ComponentSpec,
  run: RunId,
  attempt: Attempt,
  logsDir: string,
  base: Readonly<Record<string, string>>,
): Launch | SpawnProblem {
  const { driver } = spec;
  const environment = environmentOf(spec, base);
  if ('heals' in environment) return environment;
  const { cwd } = driver;
  const common = { run, component: spec.name, cwd, env: environment.env, logPath: join(logsDir, `${spec.name}.log`) };
  if (driver.kind === 'process') {
    const { kind, command } = driver;
    return { ...common, ...confinementOf(spec), kind, command, specHash: specHash(spec) };
  }
  if (driver.kind === 'container') {
    const { cwd: _, ...shared } = common;
    const { limits, stop } = spec;
    const hashes = { specHash: specHash(spec), containerHash: containerHash(spec, environment.env) };
    return { ...shared, kind: 'container', spec: driver, limits, stopSignal: stop.signal, attempt, ...hashes };
  }
  if (driver.kind === 'kubernetes') {
    const { component, logPath } = common;
    return { run, component, logPath, kind: 'kubernetes', spec: driver, attempt, specHash: specHash(spec) };
  }
  if (driver.kind === 'compose') {
    const { component, logPath } = common;
    return { run, component, logPath, kind: 'compose', spec: driver, attempt, specHash: specHash(spec) };
  }
  return { ...common, kind: 'external', target: driver.target, recover: driver.recover, attempt };
}

/** As whom it runs and what it may use; exec probes run as the same user. */
export function confinementOf({ driver, limits: { memoryBytes, pids, nofile } }: ComponentSpec): Confinement {
  if (driver.kind !== 'process') return {};
  const { user, group, umask, nice } = driver;
  return {
    ...(user === undefined ? {} : { user }),
    ...(group === undefined ? {} : { group }),
    ...(umask === undefined ? {} : { umask }),
    ...(nice === undefined ? {} : { nice }),
    limits: { memoryBytes, pids, nofile },
  };
}

// What would keep components from starting on this machine, as it is now: no mistake of the configuration, but worth a word.

export interface StartWarning {
  readonly component: string;
  readonly problem: string;
}

export function startWarnings(components: readonly ComponentSpec[], env: Environment): readonly StartWarning[] {
  const base = baseEnvironment(env);
  return components.flatMap((spec) => {
    const { name, driver } = spec;
    if (driver.kind !== 'process') return [];
    const environment = environmentOf(spec, base);
    const problem =
      'heals' in environment
        ? environment
        : precheck({ command: driver.command, cwd: driver.cwd, env: environment.env });
    return problem === null ? [] : [{ component: name, problem: problem.message }];
  });
}
