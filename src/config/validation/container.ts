/** Containers that could not be made the way they are written, or not beside each other. */

import { QUESTION_KINDS } from '../../supervision/rules/health/probe.ts';
import { DEFAULTS } from '../defaults.ts';
import { isUnusable, isWritten, nodeAt, type Say } from '../draft.ts';
import type { Component } from '../shape.ts';
import { sizeText } from '../size.ts';
import { quoted } from '../text.ts';
import type { Path, TreeNode } from '../tree.ts';
import { checkCommand } from './command.ts';
import { questionPlaces } from './probes.ts';

/** The Engine refuses less. */
const MIN_MEMORY_BYTES = 6 * 2 ** 20;

/** `written`: the component as it stands in the file, at `path`. */
export function checkContainer(component: Component, written: TreeNode | undefined, path: Path, say: Say): void {
  const { container, limits } = component;
  const refuse = (keys: Path, message: string, hint: string) => {
    if (isWritten(written, ...keys)) say([...path, ...keys], message, hint);
  };
  const again = 'a container is started again by Keepwell itself';
  refuse(['restart', 'command'], again, 'Remove it: restart.command is for what others start ("external").');
  for (const at of questionPlaces(written)) {
    const hint = 'Remove it, or write: command: [sh, -c, "cd /there && ./check"]';
    refuse([...at, 'exec', 'cwd'], 'the command runs inside the container, in its working directory', hint);
  }
  const { memory } = limits ?? {};
  if (memory !== undefined && memory < MIN_MEMORY_BYTES) {
    const message = `a container must have at least ${sizeText(MIN_MEMORY_BYTES)} of memory`;
    say([...path, 'limits', 'memory'], message, 'Raise it: Docker refuses less.');
  }
  if (!container) return;
  checkCommands(container, nodeAt(written, ['container']), [...path, 'container'], say);
  checkPorts(container, [...path, 'container', 'ports'], say);
  checkVolumes(container, [...path, 'container', 'volumes'], say);
}

type Container = NonNullable<Component['container']>;
type Commands = Pick<Container, 'command' | 'entrypoint' | 'healthcheck'>;

/** Also of a template of sessions. */
export function checkCommands(container: Commands, written: TreeNode | undefined, path: Path, say: Say): void {
  const { healthcheck } = container;
  const commands: [path: Path, command: Container['command'], example: string][] = [
    [['command'], container.command, '[serve, --all]'],
    [['entrypoint'], container.entrypoint, '[/usr/bin/runner]'],
  ];
  if (typeof healthcheck === 'object') {
    const example = '[wget, -qO-, "http://localhost:9000/healthz"]';
    commands.push([['healthcheck', 'command'], healthcheck.command, example]);
  }
  for (const [at, command, example] of commands) {
    const wrong = checkCommand({ command }, nodeAt(written, at), example);
    // The first word of `command` may be an argument, which may be empty; that of the others is a program.
    if (!wrong || (wrong.path.length > 0 && at[0] === 'command')) continue;
    const hint = wrong.path.length > 0 ? wrong.hint : `Write: ${at.at(-1)}: ${example}`;
    say([...path, ...at, ...wrong.path], wrong.message, hint);
  }
}

function checkPorts({ ports = [], network }: Container, path: Path, say: Say): void {
  if (ports.length > 0 && network === 'host')
    say(
      path,
      'in the network of this machine nothing has to be published',
      'Remove it: its ports are those of this machine.',
    );
  if (ports.length > 0 && network === 'none')
    say(path, 'without a network there are no ports', 'Remove it, or the network.');
}

function checkVolumes({ volumes = [] }: Container, path: Path, say: Say): void {
  const seen = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const to = volume?.to?.replace(/\/+$/, '');
    if (to === undefined) continue;
    if (seen.has(to)) say([...path, index], `there is something else at ${quoted(to)} already`, 'Keep one of them.');
    seen.add(to);
  }
}

/** Names and ports that two containers, or one of them twice, would need. */
export function checkContainersTogether(components: ReadonlyMap<string, Component>, say: Say): void {
  const names = new Map<string, string>();
  const taken: Taken[] = [];
  for (const [component, { container }] of components) {
    if (!container) continue;
    const path = ['components', component, 'container'];
    const { name } = container;
    const other = name === undefined ? undefined : names.get(name);
    if (other !== undefined)
      say([...path, 'name'], `the container of ${other} is called ${quoted(name!)}, too`, 'Give each its own name.');
    else if (name !== undefined) names.set(name, component);
    for (const [index, port] of (container.ports ?? []).entries()) {
      const { hostPort, hostIp = DEFAULTS.container.hostIp, protocol = 'tcp' } = port ?? {};
      if (hostPort == null) continue;
      const before = taken.find((each) => isSamePort(each, { hostPort, hostIp, protocol }));
      if (before) {
        const whose = before.component === component ? 'already' : `by ${before.component} already`;
        say([...path, 'ports', index], `port ${hostPort} of this machine is published ${whose}`, 'Choose another one.');
      } else taken.push({ component, hostPort, hostIp, protocol });
    }
  }
}

interface Published {
  readonly hostPort: number;
  readonly hostIp: string;
  readonly protocol: string;
}

interface Taken extends Published {
  readonly component: string;
}

const EVERY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];

const isSamePort = (a: Published, b: Published): boolean =>
  a.hostPort === b.hostPort &&
  a.protocol === b.protocol &&
  (a.hostIp === b.hostIp || EVERY_ADDRESS.includes(a.hostIp) || EVERY_ADDRESS.includes(b.hostIp));

/** Probes connect from this machine, and only what is published can be reached from there. */
export function checkReachable(component: Component, written: TreeNode | undefined, path: Path, say: Say): void {
  const { container } = component;
  if (!container || isUnusable(container, 'ports') || isUnusable(container, 'network') || container.network === 'host')
    return;
  if ((container.ports ?? []).includes(undefined)) return; // wrong, and reported
  for (const at of questionPlaces(written)) {
    const asked = at.reduce<unknown>(
      (value, step) => (value as Record<string, unknown> | undefined)?.[step],
      component,
    );
    for (const [kind, { asksOwnPort }] of Object.entries(QUESTION_KINDS)) {
      if (!asksOwnPort) continue;
      const question = (asked as Readonly<Record<string, { host?: string; port?: number }>> | undefined)?.[kind];
      const { host = LOOPBACK[0]!, port } = question ?? {};
      if (port === undefined || !LOOPBACK.includes(host)) continue;
      const wrong = unreachable(port, container);
      if (wrong) say([...path, ...at, kind], wrong.message, wrong.hint);
    }
  }
}

const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '::1'];

function unreachable(port: number, { ports = [], network }: Container): { message: string; hint: string } | null {
  const tcp = ports.flatMap((each) => (each?.protocol === 'tcp' ? [each] : []));
  const here = tcp.find(({ hostPort }) => hostPort === port);
  if (here) {
    const { hostIp = '' } = here;
    if (LOOPBACK.includes(hostIp) || EVERY_ADDRESS.includes(hostIp)) return null;
    return {
      message: `port ${port} is published on ${hostIp} only`,
      hint: `Write in the question: host: ${quoted(hostIp)}`,
    };
  }
  const message = `probes connect from this machine, where port ${port} of the container is not published`;
  const inside = tcp.find((each) => each.port === port);
  if (inside?.hostPort != null)
    return {
      message: `probes connect from this machine, where port ${port} of the container is ${inside.hostPort}`,
      hint: `Write ${inside.hostPort}.`,
    };
  if (inside) {
    const hint = `Give it one: "127.0.0.1:${port}:${port}"; or ask inside, with exec.`;
    return {
      message: `probes connect from this machine, where Docker chooses another port for ${port} each time`,
      hint,
    };
  }
  if (network === 'none') return { message, hint: 'Without a network, ask inside: exec: { command: [./check] }' };
  return { message, hint: `Write in container: ports: ["127.0.0.1:${port}:${port}"]; or ask inside, with exec.` };
}
