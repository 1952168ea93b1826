/** Probes as Kubernetes, Compose and process-compose write them, put into our words. */
import { parseDuration } from '../duration.ts';
import type { MapNode, TreeNode } from '../tree.ts';
import { commandText, flowList, flowText, normal } from './argv.ts';

const MAX_LENGTH = 300;

/** `{ http: { port: 8080, path: /healthz }, period: 3s }`; null when something in it is not understood. */
export function foreignProbe(node: TreeNode): string | null {
  if (node.kind !== 'map') return null;
  const question = new Map<string, string>();
  const timing = new Map<string, string>();
  for (const [key, { value }] of node.entries) {
    const word = normal(key);
    const asked = Object.hasOwn(ASKED, word) ? ASKED[word]!(value) : undefined;
    const timed = Object.hasOwn(TIMED, word) ? TIMED[word]!(value) : undefined;
    const found = asked ?? timed;
    if (!found) return null;
    (asked ? question : timing).set(...found);
  }
  if (question.size !== 1) return null;
  const text = flowMap([...question, ...timing]);
  return text.length > MAX_LENGTH ? null : text;
}

type Pair = [key: string, value: string];
type Put = (node: TreeNode) => Pair | null;

const flowMap = (pairs: readonly Pair[]): string => `{ ${pairs.map(([key, text]) => `${key}: ${text}`).join(', ')} }`;

const source = (node: TreeNode | undefined): string | null =>
  node?.kind === 'scalar' && node.value !== null ? node.source : null;

/** A bare number counts seconds, as these tools do. */
export const secondsOf = (text: string): string | null =>
  /^\d{1,9}$/.test(text) ? `${text}s` : parseDuration(text) === null ? null : text;

const timed =
  (key: string): Put =>
  (node) => {
    const text = secondsOf(source(node) ?? '');
    return text === null ? null : [key, text];
  };

const counted =
  (key: string): Put =>
  (node) => {
    const text = source(node);
    return text !== null && /^\d{1,6}$/.test(text) ? [key, text] : null;
  };

const TIMED: Readonly<Record<string, Put>> = {
  ...{ periodseconds: timed('period'), period: timed('period'), interval: timed('period') },
  ...{ timeoutseconds: timed('timeout'), timeout: timed('timeout') },
  ...{ initialdelayseconds: timed('initial_delay'), initialdelay: timed('initial_delay') },
  startperiod: timed('initial_delay'),
  ...{ failurethreshold: counted('failure_threshold'), retries: counted('failure_threshold') },
  successthreshold: counted('success_threshold'),
};

/** The keys of ours that are there, as they were written. */
function picked(node: MapNode, keys: readonly string[]): string | null {
  const pairs: Pair[] = [];
  for (const key of keys) {
    const text = source(node.entries.get(key)?.value);
    if (text === null) continue;
    const isPort = key === 'port' && /^\d{1,5}$/.test(text);
    if (key === 'port' && !isPort) return null;
    pairs.push([key, isPort ? text : flowText(key === 'scheme' ? text.toLowerCase() : text)]);
  }
  return pairs.some(([key]) => key === 'port') ? flowMap(pairs) : null;
}

const mapped =
  (key: string, keys: readonly string[]): Put =>
  (node) => {
    const text = node.kind === 'map' ? picked(node, keys) : null;
    return text === null ? null : [key, text];
  };

const httpGet = mapped('http', ['port', 'path', 'host', 'scheme']);
const tcpSocket = mapped('tcp', ['port', 'host']);
const grpc = mapped('grpc', ['port', 'service']);

const exec: Put = (node) => {
  const command = node.kind === 'map' ? node.entries.get('command')?.value : node;
  return command && command.kind !== 'map' ? ['exec', `{ command: ${commandText(command)} }`] : null;
};

/** Docker's `test`: a text is for a shell; a list says so in its first word. */
const test: Put = (node) => {
  if (node.kind !== 'list') return source(node) === null ? null : exec(node);
  const [first, ...rest] = node.items.map((item) => source(item) ?? '');
  if (first === 'CMD') return rest.length === 0 ? null : ['exec', `{ command: ${flowList(rest)} }`];
  return first === 'CMD-SHELL' && rest.length === 1 ? exec(node.items[1]!) : null;
};

const ASKED: Readonly<Record<string, Put>> = {
  httpget: httpGet,
  http: httpGet,
  tcpsocket: tcpSocket,
  grpc,
  exec,
  test,
};
