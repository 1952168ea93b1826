/** Probes as Kubernetes, Compose and process-compose write them, put into our words. */
import type { AnyProbeKind } from '../../probes/kind.ts';
import { PROBE_KINDS } from '../../probes/kinds.ts';
import { parseDuration } from '../duration.ts';
import type { TreeNode } from '../tree.ts';
import { flowMap, isGiven, normal, type Pair } from './argv.ts';

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

type Put = (node: TreeNode) => Pair | null;

const source = (node: TreeNode): string | null => (isGiven(node) ? node.source : null);

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

/** By the words of others: the key of ours, and how to write its value. */
const ASKED: Readonly<Record<string, Put>> = Object.fromEntries(
  Object.entries<AnyProbeKind>(PROBE_KINDS).flatMap(([kind, { foreign = {} }]) =>
    Object.entries(foreign).map(([word, put]): [string, Put] => [
      word,
      (node) => {
        const text = put(node);
        return text === null ? null : [kind, text];
      },
    ]),
  ),
);
