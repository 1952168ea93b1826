/** Probes, questions and external things in a shape that another tool, or a hurry, gives them. Places as in `generalPlace`. */
import type { AnyProbeKind } from '../../probes/kind.ts';
import { PROBE_KINDS } from '../../probes/kinds.ts';
import { perKind } from '../kind.ts';
import { refuse } from '../readers.ts';
import { printable, shorten } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import { commandText, type Form, flowText, isGiven } from './argv.ts';

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
  ...perKind<AnyProbeKind, Form>(PROBE_KINDS, 'PROBE', ({ forms }) => forms),
  'PROBE.all_of': allOf,
  'components.*.crash_patterns': crashPatterns,
  'components.*.external': external,
  'components.*.restart.command': restartCommand,
};
