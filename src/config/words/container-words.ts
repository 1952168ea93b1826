/** What Compose, `docker run` and Kubernetes write about a container, and where we keep it. Compared like the rest of the vocabulary. */
import type { TreeNode } from '../tree.ts';
import { argvOf, flowList, type Ours, row, scalarText } from './argv.ts';

const argv: Ours['put'] = (node) => {
  const line = node.kind === 'scalar' ? node.source.trim() : '';
  return argvOf(node) ?? (line === '' ? null : flowList(['sh', '-c', line]));
};

/** Compose and the Engine say in front how a health check is run. */
const healthCommand: Ours['put'] = (node) => {
  if (node.kind !== 'list') return argv(node);
  const [how, ...words] = node.items.flatMap((item) => (item.kind === 'scalar' ? [item.source] : []));
  if (how === 'CMD') return flowList(words);
  return how === 'CMD-SHELL' ? flowList(['sh', '-c', words.join(' ')]) : argv(node);
};

/** Lists of `name=value` and maps are both in use elsewhere. */
const pairs: Ours['put'] = (node) => {
  if (node.kind !== 'list') return null;
  const texts = node.items.flatMap((item) => (item.kind === 'scalar' ? [item.source] : [])).slice(0, 20);
  return `{ ${texts.map((text) => `${text.split('=')[0]}: ${JSON.stringify(text.split('=').slice(1).join('='))}`).join(', ')} }`;
};

const firstOf: Ours['put'] = (node: TreeNode) => {
  if (node.kind === 'scalar') return scalarText(node);
  if (node.kind === 'map') return [...node.entries.keys()][0] ?? null;
  const first = node.kind === 'list' ? node.items[0] : undefined;
  return first ? scalarText(first) : null;
};

const policy: Ours['put'] = (node) => {
  const word = node.kind === 'scalar' ? node.source.toLowerCase() : '';
  return word === 'no' || word === 'never' || word === 'false'
    ? 'never'
    : word.startsWith('on-failure')
      ? 'on-failure'
      : 'always';
};

const pull: Ours['put'] = (node) => {
  const word = node.kind === 'scalar' ? node.source.toLowerCase().replace(/[-_]/g, '') : '';
  return word === 'always' || word === 'never' ? word : 'missing';
};

const ENV = row('container.env', '{ NAME: "value" }', '', pairs);
const WORKDIR = row('container.workdir', '*', '/app');
const COMMAND = row('container.command', '[serve, --all]', '', argv);
const PULL = row('container.pull', 'missing', '', pull);
const PORTS = row('container.ports', '["127.0.0.1:9000:9000"]');
const NETWORK = row('container.network', '*', 'backend', firstOf);
const VOLUMES = row('container.volumes', '["./data:/data"]');
const LABELS = row('container.labels', '{ team: "agents" }', '', pairs);
const CPUS = row('limits.cpus', '*', '1.5');
const LIMITS = row('limits', '{ memory: 512MiB, cpus: 1.5 }');
const NAME = row('container.name', '*', 'my-app');

/** Inside `container`, and beside it. */
export const CONTAINER_WORDS: Readonly<Record<string, Ours>> = {
  ...{ environment: ENV, envs: ENV, envvars: ENV, variables: ENV, workingdir: WORKDIR, cwd: WORKDIR, workdir: WORKDIR },
  ...{
    containername: NAME,
    hostname: NAME,
    cmd: COMMAND,
    args: COMMAND,
    arguments: COMMAND,
    argv: COMMAND,
    run: COMMAND,
  },
  ...{ imagepullpolicy: PULL, pullpolicy: PULL, publish: PORTS, expose: PORTS, portbindings: PORTS, port: PORTS },
  ...{ networks: NETWORK, networkmode: NETWORK, net: NETWORK, volume: VOLUMES, mounts: VOLUMES, binds: VOLUMES },
  ...{ volumemounts: VOLUMES, mount: VOLUMES, label: LABELS, annotations: LABELS },
  ...{ cpulimit: CPUS, cpu: CPUS, nanocpus: CPUS, deploy: LIMITS, resources: LIMITS },
  ...{
    restart: row('restart.policy', 'always', '', policy),
    restartpolicy: row('restart.policy', 'always', '', policy),
  },
};

const PERIOD = row('container.healthcheck.period', '*s', '10');
const FAILURES = row('container.healthcheck.failure_threshold', '*', '3');
const TEST = row('container.healthcheck.command', '[wget, -qO-, "http://localhost:9000/healthz"]', '', healthCommand);

/** Inside `container.healthcheck`. */
export const HEALTHCHECK_WORDS: Readonly<Record<string, Ours>> = {
  ...{ interval: PERIOD, periodseconds: PERIOD, every: PERIOD, retries: FAILURES, failurethreshold: FAILURES },
  ...{ test: TEST, cmd: TEST, exec: TEST, disable: row('container.healthcheck', 'none') },
  timeoutseconds: row('container.healthcheck.timeout', '*s', '5'),
  ...{
    initialdelay: row('container.healthcheck.start_period', '*s', '5'),
    initialdelayseconds: row('container.healthcheck.start_period', '*s', '5'),
  },
};

const NOT_TAKEN =
  'Remove it: Keepwell does not set it. If it is needed, start the container yourself and watch it: external: { container: NAME }';

/** Words of Compose and `docker run` without a counterpart. */
export const CONTAINER_NO_COUNTERPART: Readonly<Record<string, string>> = {
  build: 'Build it first: docker build -t NAME . Then write: image: NAME',
  startinterval: 'Remove it: before it is healthy, it is asked as often as after.',
  ...Object.fromEntries(
    [
      'privileged',
      'capadd',
      'capdrop',
      'devices',
      'gpus',
      'dns',
      'extrahosts',
      'shmsize',
      'readonly',
      'tmpfs',
      'sysctls',
    ]
      .concat(['secrets', 'configs', 'securityopt', 'tty', 'stdinopen', 'init', 'ipc', 'pid', 'platform', 'runtime'])
      .map((word) => [word, NOT_TAKEN]),
  ),
};

/** `command: serve --all` and other single texts where a list of texts is wanted. */
export const asArgv = (node: TreeNode): string => argv(node) ?? '[serve, --all]';
