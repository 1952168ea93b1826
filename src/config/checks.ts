/** What no single value can show: combinations that cannot work, names that do not exist, loops. */
import { nearest } from '../core/suggest.ts';
import { findLoops } from './cycles.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { argvOf } from './hints/argv.ts';
import type { Problems } from './problem.ts';
import type { ComponentConfig, Config } from './shape.ts';
import { inWords, printable, quoted, shorten } from './text.ts';
import { locate, locateKey, type MapNode, type Path, type TreeNode } from './tree.ts';
import type { Draft } from './walk.ts';

type Component = Draft<ComponentConfig>;
type Components = ReadonlyMap<string, Component>;

/** More than any one machine runs; it keeps everything that walks the dependencies short. */
const MAX_COMPONENTS = 1_000;

export function checkConfig(draft: Draft<Config>, root: MapNode, problems: Problems): void {
  const written = root.entries.get('components')?.value;
  if (written?.kind !== 'map' || !draft.components) return;
  const say = (path: Path, message: string, hint: string | null) =>
    problems.add(locate(root, path), path, message, hint);
  if (written.entries.size === 0) say(['components'], 'there are no components', 'Name at least one.');
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
    const command = nodeAt(written, [name, 'process', 'command']);
    const wrong = checkCommand(component.process, command);
    if (wrong) say([...path, 'process', 'command', ...wrong.path], wrong.message, wrong.hint);
    checkBackoff(component, [...path, 'restart', 'backoff'], say);
  }
  checkDependencies(components, [...written.entries.keys()], root, problems);
}

function nodeAt(root: TreeNode, keys: readonly string[]): TreeNode | undefined {
  return keys.reduce<TreeNode | undefined>(
    (node, key) => (node?.kind === 'map' ? node.entries.get(key)?.value : undefined),
    root,
  );
}

/** Present in the file, but wrong and reported: nothing can be concluded from it. */
const isUnusable = (map: object, key: string): boolean =>
  key in map && (map as Record<string, unknown>)[key] === undefined;

interface Wrong {
  readonly path: Path;
  readonly message: string;
  readonly hint: string;
}

const wrong = (message: string, hint: string, path: Path = []): Wrong => ({ path, message, hint });

function checkCommand(process: Component['process'], written: TreeNode | undefined): Wrong | null {
  const command = process?.command;
  if (process === undefined || command === undefined || isUnusable(process, 'shell')) return null;
  const shell = process.shell ?? DEFAULTS.process.shell;
  if (typeof command === 'string') {
    if (command.trim() === '') return wrong('the command is empty', 'Write: command: [./bin/server, --port, "7234"]');
    return shell || written?.kind !== 'scalar'
      ? null
      : wrong('a command is a list of texts, not one text', asList(written));
  }
  if (command.length === 0) return wrong('the command is empty', 'Write: command: [./bin/server, --port, "7234"]');
  if (command[0] === '') return wrong('the name of the program is empty', 'Name the program to run.', [0]);
  if (!shell) return null;
  const items =
    written?.kind === 'list' ? written.items.map((item) => (item.kind === 'scalar' ? item.source : '')) : [];
  const line = printable(JSON.stringify(shorten(items.join(' '))));
  return wrong(
    'with "shell: true" the command is one text, not a list',
    `Remove "shell: true", or write: command: ${line}`,
  );
}

function asList(written: TreeNode): string {
  const argv = argvOf(written);
  if (argv !== null) return `Write: command: ${argv}`;
  return 'Add "shell: true" to run it with /bin/sh -c, or write: command: [program, argument]';
}

function checkBackoff(
  { restart }: Component,
  path: Path,
  say: (path: Path, message: string, hint: string | null) => void,
): void {
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
      } else if (condition === 'completed' && endsNever(components.get(other))) {
        const message = `${quoted(other)} never completes: its restart policy is always`;
        problems.add(
          locate(root, path),
          path,
          message,
          `Give ${other} "restart: { policy: on-failure }", or wait for ready.`,
        );
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

function endsNever(component: Component | undefined): boolean {
  if (!component || isUnusable(component, 'restart')) return false;
  const { restart = {} } = component;
  return !isUnusable(restart, 'policy') && (restart.policy ?? DEFAULTS.restart.policy) === 'always';
}
