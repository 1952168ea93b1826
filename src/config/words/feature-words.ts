/** Keys that people and other tools write in a check, and forms of its values, put into our words. */
import { refuse } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import { commandText, flowText } from './argv.ts';
import type { KeyProblem } from './key-problem.ts';
import { normal, scalarText } from './ours.ts';
import type { Form } from './probe-forms.ts';

interface CheckWord {
  readonly ours: string;
  readonly form: (written: TreeNode) => string;
}

const word = (ours: string, form: CheckWord['form']): CheckWord => ({ ours, form });
const asText =
  (sample: string): CheckWord['form'] =>
  (node) =>
    scalarText(node) ?? sample;

const NEEDS = word('needs', (node) => {
  if (node.kind === 'list') return `[${node.items.map((item) => scalarText(item) ?? 'other').join(', ')}]`;
  if (node.kind === 'map') return `[${[...node.entries.keys()].slice(0, 20).map(flowText).join(', ')}]`;
  return `[${scalarText(node) ?? 'other'}]`;
});
const HINT = word('hint', asText('"what to do"'));
const CONTAINER = word('container_running', asText('sandbox'));
const FILE = word('file_exists', asText('/path/to/file'));
const ENV = word('env_set', asText('NAME'));
const STATE = word('state_file', asText('state.json'));
const COMPONENT = word('component', asText('api'));
const EXEC = word('exec', (node) => `{ command: ${commandText(node)} }`);
const URL = word('http', asText('"http://127.0.0.1:8080/healthz"'));
const TCP = word('tcp', asText('7233'));
const TIMEOUT = word('timeout', (node) => {
  const text = scalarText(node) ?? '5s';
  return /^\d+$/.test(text) ? `${text}s` : text;
});

const CHECK_WORDS: Readonly<Record<string, CheckWord>> = {
  ...{ dependson: NEEDS, depends: NEEDS, dependencies: NEEDS, requires: NEEDS, require: NEEDS, after: NEEDS },
  ...{ help: HINT, fix: HINT, remedy: HINT, advice: HINT, message: HINT, description: HINT, suggestion: HINT },
  ...{ container: CONTAINER, containername: CONTAINER, docker: CONTAINER, running: CONTAINER },
  ...{ file: FILE, files: FILE, path: FILE, exists: FILE, fileexist: FILE },
  ...{ env: ENV, environment: ENV, variable: ENV, envvar: ENV, envexists: ENV },
  ...{ state: STATE, statefile: STATE, statusfile: STATE, process: COMPONENT, service: COMPONENT },
  ...{ command: EXEC, script: EXEC, run: EXEC, cmd: EXEC, shell: EXEC, test: EXEC },
  ...{ url: URL, uri: URL, https: URL, httpget: URL, endpoint: URL, port: TCP, tcpsocket: TCP, address: TCP },
  ...{ timeoutseconds: TIMEOUT, deadline: TIMEOUT, maxtime: TIMEOUT },
};

const TIMED: ReadonlySet<string> = new Set(['period', 'every', 'interval', 'periodseconds', 'schedule', 'frequency']);
const COUNTED: ReadonlySet<string> = new Set(['failurethreshold', 'successthreshold', 'retries', 'initialdelay']);

const ONE_SHOT = 'a check asks once, and about no run of a component';

/** What to say about a key that stands in a check, or in an item of its `all_of`; null: nothing special. */
export function explainCheckKey(key: string, value: TreeNode): KeyProblem | null {
  if (key === 'pid' || key === 'log') {
    const hint = 'Ask about the component, whose probes ask this: component: NAME';
    return { message: `${ONE_SHOT}, so it cannot ask ${key}`, hint, standsFor: 'tcp' };
  }
  const message = `unknown key ${quoted(key)}`;
  if (TIMED.has(normal(key))) {
    const hint = 'All checks run together: write at the top of the file "health: { every: 1m }".';
    return { message, hint, standsFor: null };
  }
  if (COUNTED.has(normal(key))) {
    const hint = 'Remove it: a check asks once, and says what it was answered. Probes of components have thresholds.';
    return { message, hint, standsFor: null };
  }
  const found = Object.hasOwn(CHECK_WORDS, normal(key)) ? CHECK_WORDS[normal(key)]! : null;
  if (found === null) return null;
  const form = printable(`${found.ours}: ${found.form(value)}`);
  return { message, hint: `In a check that is ${found.ours}. Write: ${form}`, standsFor: found.ours };
}

const isGiven = (node: TreeNode): boolean => node.kind === 'scalar' && node.value !== null;

/** `sandbox: docker inspect …`: a bare command, or nothing that could be a check. */
const check: Form = (node) =>
  node.kind === 'list' || isGiven(node)
    ? refuse('a check is a map, not a bare command', `Write: { exec: { command: ${commandText(node)} } }`)
    : null;

const checks: Form = (node) =>
  node.kind === 'list'
    ? refuse('must be a map from name to check, not a list', 'Write: checks: { sandbox: { container_running: … } }')
    : null;

const needs: Form = (node) =>
  node.kind === 'map' || isGiven(node)
    ? refuse('must be a list of names of checks', `Write: needs: ${printable(shorten(NEEDS.form(node)))}`)
    : null;

const files: Form = (node) =>
  node.kind === 'list'
    ? refuse(
        'must be a path or a map, not a list',
        `Write: file_exists: { any_of: ${printable(shorten(NEEDS.form(node)))} }`,
      )
    : null;

/** `health: 1m`. */
const health: Form = (node) =>
  isGiven(node)
    ? refuse('must be a map, not a single value', `Write: health: { every: ${scalarText(node) ?? '1m'} }`)
    : null;

export const CHECK_FORMS: Readonly<Record<string, Form>> = {
  checks,
  health,
  CHECK: check,
  'PROBE.needs': needs,
  'PROBE.file_exists': files,
};
