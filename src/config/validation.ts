/** What no single value can show: combinations that cannot work, names that do not exist, loops. */
import { TASK, taskInCode } from '../agents/rules/task.ts';
import { nearest } from '../base/pure/suggest.ts';
import type { AnyCheckKind, OwnCheck } from '../checks/kind.ts';
import { CHECK_KINDS } from '../checks/kinds.ts';
import { CHANNEL_KINDS } from '../incidents/alerts/kinds.ts';
import { TRACKER_KINDS } from '../incidents/tickets/kinds.ts';
import type { AgentsConfig, AgentTypeConfig } from './agents.ts';
import type { CheckConfig } from './check-specs.ts';
import { checkDashboard } from './dashboard.ts';
import { DEFAULTS } from './defaults.ts';
import { type Draft, isUnusable, isWritten, nodeAt, type Say } from './draft.ts';
import { durationText } from './duration.ts';
import { checkHeartbeat } from './heartbeat.ts';
import type { AnyEntryKind } from './kind.ts';
import type { KubernetesConfig } from './kubernetes.ts';
import type { Problems } from './problem.ts';
import { refuse } from './readers.ts';
import type { SessionsConfig, TemplateConfig } from './sessions.ts';
import type { Component, Config } from './shape.ts';
import { sizeText } from './size.ts';
import { inWords, otherNames, quoted } from './text.ts';
import { locate, locateKey, type MapNode, type Mistake, type Path } from './tree.ts';
import { checkCommand } from './validation/command.ts';
import { checkCommands, checkContainersTogether, checkReachable } from './validation/container.ts';
import { checkComposeTogether, checkKind } from './validation/kind.ts';
import { checkAsked, checkProbes } from './validation/probes.ts';

type Components = ReadonlyMap<string, Component>;

/** More than any one machine runs; it keeps everything that walks the dependencies short. */
const MAX_COMPONENTS = 1_000;
const EXAMPLE = '[./bin/server, --port, "7234"]';

export function checkConfig(draft: Draft<Config>, root: MapNode, problems: Problems, mayBeEmpty = false): void {
  const written = root.entries.get('components')?.value;
  const names = written?.kind === 'map' ? [...written.entries.keys()] : [];
  const say: Say = (path, message, hint) => problems.add(locate(root, path), path, message, hint);
  checkChecks(draft, names, root, problems);
  checkSessions(draft, root, say, checkBackoff);
  checkAgents(draft, names, root, say, checkBackoff);
  checkDelivery(draft, root, say);
  if (draft.dashboard) checkDashboard(draft.dashboard, say);
  checkKubernetes(draft.kubernetes, names, draft.components ?? {}, say);
  if (written?.kind !== 'map' || !draft.components) return;
  if (!mayBeEmpty && names.length === 0 && !['checks', 'sessions', 'agents'].some((key) => root.entries.has(key)))
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

function checkMemory({ limits }: Pick<Component, 'limits'>, path: Path, say: Say): void {
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
        const hint = problems.areMany ? null : otherNames(other, names, 'components');
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

// Agents that could not work the way they are written, and tasks that would not stay one argument.

export interface AgentsDraft {
  readonly agents?: Draft<AgentsConfig> | undefined;
}

type TypeDraft = Draft<AgentTypeConfig>;
type CheckBackoff = (of: { readonly restart?: Component['restart'] }, path: Path, say: Say) => void;

const AGENT_EXAMPLE = '[python, -m, agents.architect, --task, "{task}"]';
const PLACEHOLDER = /\{(\w+)\}/g;

export function checkAgents(
  { agents }: AgentsDraft,
  components: readonly string[],
  root: MapNode,
  say: Say,
  checkBackoff: CheckBackoff,
): void {
  if (!agents) return;
  checkLoop(agents.loop, components, root, say);
  const at = ['agents', 'types'];
  const written = nodeAt(root, at);
  if (written?.kind !== 'map' || !agents.types) return;
  if (written.entries.size === 0) say(at, 'there are no types', 'Name at least one, or remove "types".');
  for (const name of written.entries.keys()) {
    const type = agents.types[name];
    if (!type) continue;
    const path = [...at, name];
    const wrong = checkCommand(type, nodeAt(written, [name, 'command']), AGENT_EXAMPLE);
    if (wrong) say([...path, 'command', ...wrong.path], wrong.message, withoutShell(wrong.hint));
    else checkTask(type, [...path, 'command'], say);
    checkBackoff({ restart: { backoff: type.backoff } }, [...path, 'backoff'], say);
    checkHeartbeat(nodeAt(written, [name]), path, say);
    checkPlaceholder(type.heartbeat?.file ?? '', [...path, 'heartbeat', 'file'], say);
    checkMemory({ limits: type.limits }, [...path, 'limits'], say);
    checkTimeout(type, path, say);
  }
}

/** Whoever is silent is to be found out before its time is up, or the heartbeat does nothing. */
function checkTimeout(type: TypeDraft, path: Path, say: Say): void {
  const { timeout, heartbeat } = type;
  if (timeout === undefined || !heartbeat || isUnusable(heartbeat, 'freeze_after')) return;
  const freezeAfter = heartbeat.freeze_after ?? DEFAULTS.heartbeat.freezeAfterMs;
  if (freezeAfter < timeout) return;
  const given = heartbeat.freeze_after === undefined ? ' (the default)' : '';
  const message = `timeout is ${durationText(timeout)}, so a freeze would not be noticed: freeze_after is ${durationText(freezeAfter)}${given}`;
  say([...path, 'timeout'], message, 'Raise timeout, or lower heartbeat.freeze_after.');
}

/** For an agent there is always a list: a task inside a line for the shell would be read by the shell. */
const withoutShell = (hint: string): string =>
  hint.includes('shell: true') ? 'Write: command: [sh, -c, "one | two", sh, "{task}"], with "$1" for the task.' : hint;

function checkLoop(loop: string | undefined, components: readonly string[], root: MapNode, say: Say): void {
  if (loop === undefined) return;
  if (!components.includes(loop)) {
    const meant = nearest(loop, components);
    const hint = meant === null ? `Known: ${inWords(components, 'and') || 'none'}.` : `Did you mean "${meant}"?`;
    say(['agents', 'loop'], `there is no component ${quoted(loop)}`, hint);
  } else if (!isWritten(root, 'components', loop, 'heartbeat')) {
    const hint = `Write in the component ${loop}: heartbeat: { file: work_loop_state.json, field: last_update }`;
    say(['agents', 'loop'], `${quoted(loop)} has no heartbeat, so nobody could tell that it froze`, hint);
  }
}

function checkPlaceholder(text: string, path: Path, say: Say): void {
  for (const [, word] of text.matchAll(PLACEHOLDER)) {
    if (word !== 'task' && nearest(word!, ['task']) !== null)
      say(path, `there is no placeholder {${word}}`, `Did you mean ${TASK}?`);
  }
}

function checkTask({ command }: TypeDraft, path: Path, say: Say): void {
  if (typeof command !== 'object') return;
  const argv = command.map((part) => part ?? '');
  for (const [index, part] of argv.entries()) checkPlaceholder(part, [...path, index], say);
  if (argv[0]?.includes(TASK))
    say([...path, 0], 'the task cannot say which program is run', 'Name the program to run.');
  const code = taskInCode(argv);
  if (code !== null) {
    const hint = `Give it as an argument of its own, as in: [sh, -c, 'work on "$1"', sh, "${TASK}"]`;
    say([...path, code.at], `${quoted(code.reader)} would read the task as a part of a program`, hint);
  }
}

// Templates of sessions that could not work the way they are written.

export interface SessionsDraft {
  readonly sessions?: Draft<SessionsConfig> | undefined;
}

type Template = Draft<TemplateConfig>;
type CheckSessionBackoff = (of: { readonly restart?: Template['restart'] }, path: Path, say: Say) => void;

export function checkSessions(
  { sessions }: SessionsDraft,
  root: MapNode,
  say: Say,
  checkBackoff: CheckSessionBackoff,
): void {
  const at = ['sessions', 'templates'];
  const written = nodeAt(root, at);
  if (written?.kind !== 'map' || !sessions?.templates) return;
  if (written.entries.size === 0) say(at, 'there are no templates', 'Name at least one, or remove "sessions".');
  for (const name of written.entries.keys()) {
    const template = sessions.templates[name];
    if (!template) continue;
    const path = [...at, name];
    checkTimes(template, path, say);
    checkCommands(template, nodeAt(written, [name]), path, say);
    checkBackoff({ restart: template.restart }, [...path, 'restart', 'backoff'], say);
    if (template.port !== undefined && template.network === 'none') {
      say([...path, 'port'], 'a container without a network has no ports', 'Remove port, or "network: none".');
    }
  }
}

function checkTimes(template: Template, path: Path, say: Say): void {
  const { ttl, max_ttl: max } = template;
  if (max === undefined || isUnusable(template, 'ttl') || max >= (ttl ?? DEFAULTS.sessions.ttlMs)) return;
  const given = ttl === undefined ? `${durationText(DEFAULTS.sessions.ttlMs)} (the default)` : durationText(ttl);
  say(
    [...path, 'max_ttl'],
    `max_ttl is ${durationText(max)}, which is less than ttl, ${given}`,
    'Raise max_ttl, or lower ttl.',
  );
}

// Channels of alerts and trackers of tickets that could not work the way they are written.

const MAX_TRACKERS = 20;

function checkDelivery({ alerts, tickets }: Draft<Config>, root: MapNode, say: Say): void {
  const trackers = tickets?.trackers ?? [];
  if (trackers.length > MAX_TRACKERS)
    say(['tickets', 'trackers'], `there are more than ${MAX_TRACKERS} trackers`, 'Keep the ones that are read.');
  checkEntries(TRACKER_KINDS, trackers, ['tickets', 'trackers'], root, say);
  checkEntries(CHANNEL_KINDS, (alerts?.channels ?? []) as readonly Entry[], ['alerts', 'channels'], root, say);
  const { from, to } = alerts?.quiet_hours ?? {};
  if (from !== undefined && from === to)
    say(['alerts', 'quiet_hours'], 'ends when it begins', 'Write two different times: { from: "22:00", to: "07:00" }');
  if (alerts === undefined || alerts.digest !== undefined) return;
  alerts.channels?.forEach((channel, index) => {
    const at = channel?.on?.indexOf('digest') ?? -1;
    if (at >= 0)
      say(
        ['alerts', 'channels', index, 'on', at],
        'there is no digest',
        'Say when it is sent, under "alerts": digest: "08:00"',
      );
  });
}

type Entry = Readonly<Record<string, object | undefined>> | undefined;

function checkEntries(
  kinds: Readonly<Record<string, AnyEntryKind>>,
  entries: readonly Entry[],
  at: Path,
  root: MapNode,
  say: Say,
): void {
  const seen = new Map<string, number>();
  entries.forEach((entry, index) => {
    const path = [...at, index];
    const given = Object.entries(kinds).flatMap(([key, kind]) => {
      const config = entry?.[key];
      return config ? [{ key, kind, config }] : [];
    });
    for (const { key, kind, config } of given) kind.check?.(config, nodeAt(root, [...path, key]), [...path, key], say);
    // What waits to be sent is kept by where it goes to: two ways to one place would get in each other's way.
    const [place] = given.flatMap(({ kind, config }) => kind.place(config) ?? []);
    if (place === undefined) return;
    if (seen.has(place))
      say(path, `leads to the same place as number ${seen.get(place)! + 1} of the list`, 'Remove one of them.');
    else seen.set(place, index);
  });
}

// Checks that could never be asked the way they are written: needs that do not exist, loops, paths that mean nothing.

type Check = Draft<CheckConfig>;

/** More than anybody reads; it keeps everything that walks the needs short. */
const MAX_CHECKS = 200;

export interface CheckedDraft {
  readonly checks?: { readonly [name: string]: Check | undefined } | undefined;
}

/** `components`: the names in the file, whether these can be used or not. */
export function checkChecks(
  draft: CheckedDraft,
  components: readonly string[],
  root: MapNode,
  problems: Problems,
): void {
  const written = root.entries.get('checks')?.value;
  if (written?.kind !== 'map' || !draft.checks) return;
  const say: Say = (path, message, hint) => problems.add(locate(root, path), path, message, hint);
  const names = [...written.entries.keys()];
  if (names.length === 0) say(['checks'], 'there are no checks', 'Name at least one, or remove the line.');
  if (names.length > MAX_CHECKS) {
    say(['checks'], `there are more than ${MAX_CHECKS} checks`, 'Split them into several projects.');
    return;
  }
  const needs = new Map<string, readonly string[]>();
  for (const name of names) {
    const check = draft.checks[name];
    if (!check) continue;
    const path = ['checks', name];
    checkAsked(check, nodeAt(written, [name]), path, say);
    for (const [key, kind] of Object.entries<AnyCheckKind>(CHECK_KINDS)) {
      const config = check[key as OwnCheck];
      if (config !== undefined) kind.check?.(config, [...path, key], say, components);
    }
    needs.set(name, checkNeeds(check, names, path, say));
  }
  for (const loop of findLoops(needs)) {
    const [first, second] = [loop[0]!, loop[1]!];
    const at = needs.get(first)!.indexOf(second);
    const message = `these need each other, so none could be asked: ${loop.join(' -> ')}`;
    say(['checks', first, 'needs', at], message, 'Remove one of these needs.');
  }
}

/** The needs as they stand in the file, so that a place in the list is a place in the file. */
function checkNeeds({ needs = [] }: Check, names: readonly string[], path: Path, say: Say): readonly string[] {
  const list = needs.map((need) => need ?? '');
  for (const [index, need] of list.entries()) {
    if (need === '') continue; // wrong, and reported
    const at = [...path, 'needs', index];
    if (!names.includes(need)) say(at, `there is no check ${quoted(need)}`, otherNames(need, names, 'checks'));
    else if (list.indexOf(need) < index) say(at, `${quoted(need)} is given twice`, 'Keep one of them.');
  }
  return list;
}

// Loops among dependencies. Without recursion: a chain of a thousand components is no reason to run out of stack.

/** Name → the names it depends on, with their order. Names without an entry are ignored. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** Every loop once, as a walk that ends where it began: `a`, `b`, `a`. Loops that share components count as one. */
export function findLoops(dependencies: Dependencies): readonly (readonly string[])[] {
  const loops: string[][] = [];
  const left = new Map<string, readonly string[]>();
  for (const [name, needs] of dependencies) {
    if (needs.includes(name)) loops.push([name, name]);
    left.set(
      name,
      needs.filter((need) => need !== name),
    );
  }
  for (;;) {
    withoutDeadEnds(left);
    const [start] = left.keys();
    if (start === undefined) return loops;
    const loop = follow(left, start);
    loops.push(loop);
    for (const name of loop) left.delete(name);
  }
}

/** Takes away everything that depends on nothing that is left, again and again; what stays lies on a loop or leads into one. */
function withoutDeadEnds(left: Map<string, readonly string[]>): void {
  const dependents = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [name, needs] of left) {
    const present = needs.filter((need) => left.has(need));
    open.set(name, present.length);
    for (const need of present) {
      const known = dependents.get(need);
      if (known) known.push(name);
      else dependents.set(need, [name]);
    }
  }
  const ended = [...open].filter(([, count]) => count === 0).map(([name]) => name);
  for (let name = ended.pop(); name !== undefined; name = ended.pop()) {
    left.delete(name);
    for (const dependent of dependents.get(name) ?? []) {
      const count = open.get(dependent)! - 1;
      open.set(dependent, count);
      if (count === 0) ended.push(dependent);
    }
  }
}

/** Everything left depends on something left, so walking on must come back to where it has been. */
function follow(left: Dependencies, start: string): string[] {
  const walked: string[] = [];
  const seen = new Set<string>();
  let at = start;
  while (!seen.has(at)) {
    seen.add(at);
    walked.push(at);
    at = left.get(at)!.find((need) => left.has(need))!;
  }
  return [...walked.slice(walked.indexOf(at)), at];
}

/** An image for something that does not take one would be left out without a word. */
function checkKubernetes(
  kubernetes: Draft<KubernetesConfig> | undefined,
  names: readonly string[],
  components: Readonly<Record<string, Component | undefined>>,
  say: Say,
): void {
  for (const name of Object.keys(kubernetes?.images ?? {})) {
    const path = ['kubernetes', 'images', name];
    const component = components[name];
    if (!names.includes(name))
      say(path, `there is no component ${quoted(name)}`, otherNames(name, names, 'components'));
    else if (component?.container)
      say(path, `${quoted(name)} is a container and has its own image`, 'Write it in container.image.');
    else if (component && !component.process)
      say(path, `${quoted(name)} is not a process, so it is not rendered`, 'Remove it, or make it a container.');
  }
}
