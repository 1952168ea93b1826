/** What a unit for this project would be made of now, and what is doubtful about it. */
import { dirname } from 'node:path';
import type { ResolvedConfig } from '../../config/load.ts';
import { withDependencies } from '../../supervision/rules/graph.ts';
import { KILL_WAIT_MS } from '../../supervision/rules/lifecycle/when-stopping.ts';
import type { ComponentSpec } from '../../supervision/spec.ts';
import type { CliCall } from '../call.ts';
import { ownerOf, unitName } from './place.ts';
import type { Scope, UnitFacts } from './unit.ts';

export function unitFacts(call: CliCall, { name, components }: ResolvedConfig, scope: Scope): UnitFacts {
  const { world, project } = call;
  return {
    scope,
    unit: unitName(name),
    project: name,
    node: world.execPath,
    entry: world.entry,
    files: project.files,
    dir: dirname(project.files[0]!),
    home: world.env['KEEPWELL_HOME'] ? project.home : null,
    path: world.env['PATH'] || null,
    user: scope === 'system' ? ownerOf(call) : null,
    stopSeconds: stopSeconds(components),
  };
}

const MANAGERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['nvm', /\/\.?nvm\/(?:versions|v\d)/],
  ['fnm', /\/fnm(?:_multishells)?\//],
  ['Volta', /\/\.volta\//],
  ['asdf', /\/\.asdf\//],
  ['mise', /\/mise\/(?:installs|shims)\//],
  ['nodenv', /\/\.nodenv\//],
  ['n', /\/n\/versions\/node\//],
  ['proto', /\/\.proto\//],
];

/** Paths that will not be there for ever. */
export function pathWarnings({ node, entry, files }: Pick<UnitFacts, 'node' | 'entry' | 'files'>): readonly string[] {
  const [manager] = MANAGERS.find(([, pattern]) => pattern.test(node)) ?? [];
  const again = 'Run "keepwell service install" again after a change.';
  return [
    ...(manager
      ? [`Node is kept by ${manager} (${node}): the unit breaks when that version is removed. ${again}`]
      : []),
    ...(/\/_npx\//.test(entry)
      ? [
          `Keepwell is run from the cache of npx (${entry}), which npm may empty at any time. Install it: npm install -g keepwell`,
        ]
      : []),
    ...[node, entry, ...files]
      .filter((path) => /^\/(?:tmp|var\/tmp|dev\/shm|run)\//.test(path))
      .map((path) => `${path} is in a place that does not survive a reboot.`),
  ];
}

/** What a service sees of the environment, as far as it matters to the configuration. */
const KEPT = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'XDG_RUNTIME_DIR', 'KEEPWELL_HOME'];

/** Variables that the configuration takes from this shell will not be there under systemd: said before it matters. */
export async function environmentWarnings(call: CliCall, config: ResolvedConfig): Promise<readonly string[]> {
  const { env } = call.world;
  const kept = Object.fromEntries(KEPT.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  const advice = 'Put what is missing into .env beside the configuration.';
  try {
    const { loadConfig } = await import('../../config/load.ts');
    const alone = loadConfig({ ...call.project, env: kept, cwd: call.world.cwd });
    const different = config.components.filter(
      (spec, at) => JSON.stringify(spec) !== JSON.stringify(alone.components[at]),
    );
    if (different.length === 0) return [];
    const names = different.map(({ name }) => name).join(', ');
    return [`Variables of this shell are not there under systemd, which changes: ${names}. ${advice}`];
  } catch (error) {
    return [
      `Under systemd, without the variables of this shell, it would not start. ${(error as Error).message}\n${advice}`,
    ];
  }
}

// How long a daemon may need to stop everything in order: systemd must not lose its patience before.

/** For the daemon itself, on a busy machine. */
const SPARE_MS = 15_000;

type Stopped = Pick<ComponentSpec, 'name' | 'dependsOn' | 'stop'>;

/** The longest chain of dependencies, each with its grace and the time after SIGKILL in which it is waited for. */
export function stopSeconds(components: readonly Stopped[]): number {
  const graph = new Map(components.map(({ name, dependsOn }) => [name as string, Object.keys(dependsOn)]));
  const graces = new Map(components.map(({ name, stop }) => [name as string, stop.graceMs + KILL_WAIT_MS]));
  const needs = new Map<string, number>();
  // In start order, so that what somebody depends on is known already.
  for (const name of withDependencies(graph, [...graph.keys()])) {
    const before = Math.max(0, ...(graph.get(name) ?? []).map((other) => needs.get(other) ?? 0));
    needs.set(name, before + (graces.get(name) ?? 0));
  }
  return Math.ceil((Math.max(0, ...needs.values()) + SPARE_MS) / 1000);
}
