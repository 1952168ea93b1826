/** What no single value can show: combinations that cannot work, names that do not exist, loops. */
import { nearest } from '../base/pure/suggest.ts';
import { checkAgents } from './validation/agents.ts';
import { checkAlerts } from './validation/alerts.ts';
import { checkCommand } from './validation/command.ts';
import { checkComposeTogether } from './validation/compose.ts';
import { checkContainersTogether, checkReachable } from './validation/container.ts';
import { type Component, isUnusable, nodeAt, type Say } from './validation/draft.ts';
import { checkChecks } from './validation/health-checks.ts';
import { checkHeartbeat } from './validation/heartbeat.ts';
import { checkKind } from './validation/kind.ts';
import { checkProbes } from './validation/probes.ts';
import { checkSessions } from './validation/sessions.ts';
import { checkTickets } from './validation/tickets.ts';
import { findLoops } from './cycles.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import type { Problems } from './problem.ts';
import { refuse } from './readers.ts';
import type { Config } from './shape.ts';
import { sizeText } from './size.ts';
import { inWords, quoted } from './text.ts';
import { locate, locateKey, type MapNode, type Mistake, type Path } from './tree.ts';
import type { Draft } from './walk.ts';

type Components = ReadonlyMap<string, Component>;

/** More than any one machine runs; it keeps everything that walks the dependencies short. */
const MAX_COMPONENTS = 1_000;
const EXAMPLE = '[./bin/server, --port, "7234"]';

export function checkConfig(draft: Draft<Config>, root: MapNode, problems: Problems): void {
  const written = root.entries.get('components')?.value;
  const names = written?.kind === 'map' ? [...written.entries.keys()] : [];
  const say: Say = (path, message, hint) => problems.add(locate(root, path), path, message, hint);
  checkChecks(draft, names, root, problems);
  checkSessions(draft, root, say, checkBackoff);
  checkAgents(draft, names, root, say, checkBackoff);
  checkTickets(draft, root, say);
  checkAlerts(draft, root, say);
  if (written?.kind !== 'map' || !draft.components) return;
  if (names.length === 0 && !['checks', 'sessions', 'agents'].some((key) => root.entries.has(key)))
    say(['components'], 'there are no components', 'Name at least one.');
  if (written.entries.size > MAX_COMPONENTS) {
    say(['components'], `there are more than ${MAX_COMPONENTS} components`, 'Split them into several projects.');
    return;
  }
  const components = new Map<string, Component>();
  for (const name of written.entries.keys()) {
    const component = draft.components[name];
    if (component) components.set(name, component);
  }
  for (const [name, component] of components) {
    const path = ['components', name];
    const node = nodeAt(written, [name]);
    const { process } = component;
    const wrong = process && checkCommand(process, nodeAt(node, ['process', 'command']), EXAMPLE);
    if (wrong) say([...path, 'process', 'command', ...wrong.path], wrong.message, wrong.hint);
    checkProbes(component, node, path, say);
    checkHeartbeat(node, path, say);
    checkKind(component, node, path, say);
    checkReachable(component, node, path, say);
    checkBackoff(component, [...path, 'restart', 'backoff'], say);
    checkMemory(component, [...path, 'limits'], say);
  }
  checkContainersTogether(components, say);
  checkComposeTogether(components, say);
  checkDependencies(components, [...written.entries.keys()], root, problems);
}

function checkBackoff({ restart }: Pick<Component, 'restart'>, path: Path, say: Say): void {
  const backoff = restart?.backoff;
  if (!backoff || isUnusable(backoff, 'initial') || isUnusable(backoff, 'max')) return;
  const { initialMs, maxMs } = DEFAULTS.restart.backoff;
  const initial = backoff.initial ?? initialMs;
  const max = backoff.max ?? maxMs;
  if (max >= initial) return;
  const given = backoff.max === undefined ? 'initial' : 'max';
  const [low, high] = [durationText(max), durationText(initial)];
  const other = (value: number | undefined) => (value === undefined ? ' (the default)' : '');
  const message = `max is ${low}${other(backoff.max)}, which is less than initial, ${high}${other(backoff.initial)}`;
  say([...path, given], message, 'Raise max, or lower initial.');
}

function checkMemory({ limits }: Component, path: Path, say: Say): void {
  if (!limits || isUnusable(limits, 'memory') || isUnusable(limits, 'soft_memory')) return;
  const { memory, soft_memory: soft } = limits;
  if (memory === undefined || soft === undefined || soft < memory) return;
  const message = `soft_memory (${sizeText(soft)}) must be less than memory (${sizeText(memory)})`;
  say([...path, 'soft_memory'], message, 'Lower it: it is there to restart the component before the kernel ends it.');
}

function checkDependencies(components: Components, names: readonly string[], root: MapNode, problems: Problems): void {
  const known = new Set(names);
  const needs = new Map<string, readonly string[]>();
  for (const [name, component] of components) {
    const dependencies = Object.entries(component.depends_on ?? {});
    needs.set(
      name,
      dependencies.map(([other]) => other),
    );
    for (const [other, condition] of dependencies) {
      const path = ['components', name, 'depends_on', other];
      if (!known.has(other)) {
        const hint = problems.areMany ? null : otherNames(other, names);
        problems.add(locateKey(root, path), path, `there is no component ${quoted(other)}`, hint);
      } else if (condition === 'completed') {
        const reason = endsNever(components.get(other), other);
        if (reason) problems.add(locate(root, path), path, reason.message, reason.hint);
      }
    }
  }
  for (const loop of findLoops(needs)) {
    const path = ['components', loop[0]!, 'depends_on', loop[1]!];
    const message = `these depend on each other, so none could start: ${loop.join(' -> ')}`;
    problems.add(locateKey(root, path), path, message, 'Remove one of these dependencies.');
  }
}

function otherNames(word: string, names: readonly string[]): string {
  const meant = word.length <= 63 ? nearest(word, names) : null;
  if (meant !== null) return `Did you mean "${meant}"?`;
  return names.length <= 20 ? `There is ${inWords(names)}.` : 'Look at the names under "components".';
}

function endsNever(component: Component | undefined, name: string): Mistake | null {
  if (!component || isUnusable(component, 'restart')) return null;
  const { restart = {}, external } = component;
  if (external && !external.container)
    return refuse(`${quoted(name)} never completes: how it ended is only known of a container`, 'Wait for ready.');
  if (external && !restart.command)
    return refuse(`${quoted(name)} never completes: it is watched until it comes back`, 'Wait for ready.');
  if (isUnusable(restart, 'policy') || (restart.policy ?? DEFAULTS.restart.policy) !== 'always') return null;
  return refuse(
    `${quoted(name)} never completes: its restart policy is always`,
    `Give ${name} "restart: { policy: on-failure }", or wait for ready.`,
  );
}
