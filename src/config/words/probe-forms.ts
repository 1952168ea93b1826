/** Probes, questions and external things in a shape that another tool, or a hurry, gives them. Places as in `generalPlace`. */
import { refuse } from '../readers.ts';
import { printable, shorten } from '../text.ts';
import type { Mistake, ScalarNode, TreeNode } from '../tree.ts';
import { commandText, flowText } from './argv.ts';

export type Form = (node: TreeNode) => Mistake | null;

const isGiven = (node: TreeNode): node is ScalarNode => node.kind === 'scalar' && node.value !== null;

/** What a bare value probably asks: a port, a URL, a path, or a command. */
function questionIn(node: TreeNode): string {
  if (node.kind === 'scalar') {
    const { source, value } = node;
    if (/^\d{1,5}$/.test(source)) return `{ tcp: ${source} }`;
    if (/^https?:\/\/\S{1,200}$/i.test(source)) return `{ http: ${flowText(source)} }`;
    if (/^[\w.-]{1,200}:\d{1,5}$/.test(source)) return `{ tcp: ${flowText(source)} }`;
    if (typeof value !== 'string' || source.trim() === '') return '{ http: { port: 8080, path: /healthz } }';
    if (/^\/(?:healthz?|livez?|readyz?|ping|status)\b\S{0,100}$/.test(source))
      return `{ http: { port: 8080, path: ${flowText(source)} } }`;
  }
  return `{ exec: { command: ${commandText(node)} } }`;
}

const probe: Form = (node) =>
  node.kind === 'list' || isGiven(node)
    ? refuse(`must be a map, not a ${node.kind === 'list' ? 'list' : 'single value'}`, `Write ${questionIn(node)}.`)
    : null;

const exec: Form = (node) =>
  node.kind === 'list' || isGiven(node)
    ? refuse('must be a map, not a bare command', `Write: exec: { command: ${commandText(node)} }`)
    : null;

const pid: Form = (node) =>
  node.kind === 'map' || node.kind === 'broken' ? null : refuse('must be an empty map', 'Write: pid: {}');

const temporal: Form = (node) => {
  if (!isGiven(node)) return null;
  const { source } = node;
  const address = /^[\w.-]{1,200}:\d{1,5}$/.test(source) ? `address: ${flowText(source)}, ` : '';
  const queue = address === '' && /^[\w.-]{1,80}$/.test(source) ? flowText(source) : 'workflows';
  return refuse(
    'must be a map, not a single value',
    `Write: temporal: { ${address}task_queue: ${queue}, kind: workflow }`,
  );
};

/** Kubernetes: a list of `{ name, value }`. */
const headers: Form = (node) =>
  node.kind === 'list' || isGiven(node)
    ? refuse('must be a map of names and values', 'Write: headers: { Accept: "application/json" }')
    : null;

const allOf: Form = (node) => {
  if (node.kind === 'map') {
    const items = [...node.entries.keys()].slice(0, 6).map((key) => `{ ${flowText(key)}: … }`);
    const list = items.length > 0 ? items.join(', ') : '{ tcp: 7233 }';
    return refuse('must be a list of questions, not a map', `Write: all_of: [${printable(list)}]`);
  }
  return isGiven(node)
    ? refuse('must be a list of questions, not a single value', `Write: all_of: [${questionIn(node)}]`)
    : null;
};

const crashPatterns: Form = (node) =>
  isGiven(node)
    ? refuse(
        'must be a list, not a single value',
        `Write: crash_patterns: [${printable(JSON.stringify(shorten(node.source)))}]`,
      )
    : null;

const external: Form = (node) => {
  if (!isGiven(node)) return null;
  const { source } = node;
  const form = /^[\w.-]+:\d+$/.test(source)
    ? `{ address: ${flowText(shorten(source))} }`
    : /^[A-Za-z][\w.-]*$/.test(source) && typeof node.value === 'string' && !source.endsWith('.pid')
      ? `{ container: ${flowText(shorten(source))} }`
      : `{ pid_file: ${/[/.]/.test(source) ? flowText(shorten(source)) : '/run/legacy.pid'} }`;
  return refuse('must be a map, not a single value', `Write: external: ${form}`);
};

/** A text is refused with the list to paste; there is no `shell` beside this one. */
const restartCommand: Form = (node) => {
  if (!isGiven(node)) return null;
  const form = commandText(node).replace(/^(".*"), shell: true$/s, '[sh, -c, $1]');
  return refuse('a command is a list of texts, not one text', `Write: command: ${form}`);
};

export const PROBE_FORMS: Readonly<Record<string, Form>> = {
  PROBE: probe,
  ITEM: probe,
  'PROBE.exec': exec,
  'PROBE.pid': pid,
  'PROBE.temporal': temporal,
  'PROBE.http.headers': headers,
  'PROBE.all_of': allOf,
  'components.*.crash_patterns': crashPatterns,
  'components.*.external': external,
  'components.*.restart.command': restartCommand,
};
