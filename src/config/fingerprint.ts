/** Short hashes of a component: whether it changed, and which part of it. Values never leave this file in the clear. */
import { createHash } from 'node:crypto';
import { type ComponentSpec, type ContainerSpec, type DriverSpec, runsInContainer } from '../supervision/spec.ts';

/**
 * Equal when a run would be started with the same things: a change of anything else (the restart policy, the stop signal, …)
 * takes hold without a restart.
 */
export function specHash(spec: ComponentSpec): string {
  const known = HASHES.get(spec) ?? hash(startedWith(spec), 16);
  HASHES.set(spec, known);
  return known;
}

/**
 * Equal when the same container would be made: variables are a part of a container, so what their files say counts here, and
 * not only which files they are.
 */
export const containerHash = (spec: ComponentSpec, env: Readonly<Record<string, string>>): string =>
  hash([specHash(spec), env], 16);

function startedWith({ driver, limits: { memoryBytes, pids, nofile, cpus } }: ComponentSpec): unknown {
  // How something external is brought back is no part of it: a new recovery command is no reason to use it.
  if (driver.kind === 'external') return driver.target;
  if (driver.kind === 'kubernetes') return made(driver);
  // What is in the file is for Compose to judge, with the next start that somebody asks for.
  if (driver.kind === 'compose') return made(driver);
  if (driver.kind === 'container')
    return [partsOf(driver), driver.env, driver.envFiles, memoryBytes, pids, nofile, cpus ?? null];
  // Without limits the same as before there were any: an upgrade restarts nothing.
  const hard = [memoryBytes, pids, nofile];
  return hard.every((limit) => limit === null) ? driver : [driver, hard];
}

/** Asked for with every step of a component, and specifications never change. */
const HASHES = new WeakMap<ComponentSpec, string>();

/**
 * What a run was made of, as name → short hash, to answer "what changed since the last good run". `envFileTexts` (path → text)
 * makes edits inside an env file visible; without it only the list of files counts.
 */
export function ingredients(
  spec: ComponentSpec,
  envFileTexts: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  if (spec.driver.envFiles.length > 0) return hashedParts(spec, envFileTexts);
  const known = INGREDIENTS.get(spec) ?? hashedParts(spec, {});
  INGREDIENTS.set(spec, known);
  return known;
}

/** Asked for with every run; without files they are as constant as the specification. */
const INGREDIENTS = new WeakMap<ComponentSpec, Readonly<Record<string, string>>>();

function hashedParts(
  { driver, dependsOn, stop, restart, minUptimeMs, probes, crashPatterns, heartbeat, limits }: ComponentSpec,
  envFileTexts: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const parts: [name: string, value: unknown][] = [
    ...made(driver),
    ...(runsInContainer(driver) || driver.kind === 'kubernetes' ? [] : [['cwd', driver.cwd] as [string, unknown]]),
    ...Object.entries(driver.env).map(([name, value]): [string, unknown] => [`env ${name}`, value]),
    ...driver.envFiles.map((path, index): [string, unknown] => [
      `env_file ${inside(driver.cwd, path)}`,
      [index, Object.hasOwn(envFileTexts, path) ? envFileTexts[path] : null],
    ]),
    ['depends_on', dependsOn],
    ['stop', stop],
    ['restart', restart],
    ['min_uptime', minUptimeMs],
    ...Object.entries(probes).map(([role, probe]): [string, unknown] => [role, probe]),
    ['crash_patterns', crashPatterns],
    ...(heartbeat ? [['heartbeat', heartbeat] as [string, unknown]] : []),
    ['limits', limits],
  ];
  return Object.fromEntries(parts.map(([name, value]) => [name, hash(value, 8)]));
}

function made(driver: DriverSpec): [name: string, value: unknown][] {
  switch (driver.kind) {
    case 'process':
      return [
        ['command', [driver.shell, driver.command]],
        ...AS.flatMap((name): [string, unknown][] => (driver[name] === undefined ? [] : [[name, driver[name]]])),
      ];
    case 'container':
      return [...partsOf(driver), ['pull', driver.pull], ['cleanup', driver.cleanup]];
    case 'compose':
      return [['compose', [driver.file, driver.projectDir, driver.service]]];
    case 'kubernetes':
      return driver.objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]);
    case 'external':
      return [
        ['external', driver.target],
        ['command', driver.recover],
      ];
    default:
      throw new Error(`no such kind: ${JSON.stringify(driver satisfies never)}`);
  }
}

/** What a container is made with, but for its variables and limits. */
const partsOf = (driver: ContainerSpec): [name: string, value: unknown][] => [
  ['image', driver.image],
  ['name', driver.containerName],
  ['entrypoint', driver.entrypoint],
  ['command', driver.command],
  ['user', driver.user],
  ['workdir', driver.workdir],
  ['labels', driver.labels],
  ['network', driver.network],
  ['ports', driver.ports],
  ['volumes', driver.volumes],
  ['healthcheck', driver.healthcheck],
];

const AS = ['user', 'group', 'umask', 'nice'] as const;

const inside = (dir: string, path: string): string => (path.startsWith(`${dir}/`) ? path.slice(dir.length + 1) : path);

const hash = (value: unknown, length: number): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(value)))
    .digest('hex')
    .slice(0, length);

/** Maps become sorted lists of pairs, so that the same content always gives the same text. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return { map: pairs.map(([key, inner]) => [key, canonical(inner)]) };
}
