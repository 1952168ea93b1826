/** process-compose.yaml: nearly one to one. */
import { readDocument } from '../document.ts';
import { durationText } from '../duration.ts';
import type { Problems } from '../problem.ts';
import { readLine } from '../starter/command-line.ts';
import { type Draft, literal, type Need, variable, withoutMarks } from '../starter/draft.ts';
import type { MapNode, TreeNode } from '../tree.ts';
import { flowList, flowMap, flowText, type Pair } from '../words/argv.ts';
import { type ImportFindings, isEnvName, Losses, NO_COUNTERPART, OWN_LOGS, type Source } from './findings.ts';
import { isDuration, restartLines, signalName, stopLines } from './lines.ts';
import { childOf, isOn, lineOf, numberOf, textOf, textsOf } from './nodes.ts';

const NEEDS: Readonly<Record<string, Need>> = {
  process_started: 'started',
  process_healthy: 'ready',
  process_log_ready: 'ready',
  process_completed: 'completed',
  process_completed_successfully: 'completed',
};

const POLICIES: Readonly<Record<string, 'always' | 'on-failure' | 'never'>> = {
  always: 'always',
  on_failure: 'on-failure',
  exit_on_failure: 'on-failure',
  no: 'never',
};

const CARRIED = new Set([
  ...['command', 'entrypoint', 'working_dir', 'environment', 'env_file', 'depends_on', 'availability', 'shutdown'],
  ...['readiness_probe', 'liveness_probe', 'ready_log_line', 'description'],
]);
const LOST: Readonly<Record<string, string>> = {
  replicas: 'one process is started: copy the component for more.',
  namespace: 'there are no namespaces: a pattern such as "web-*" names several components.',
  is_daemon: 'a program must stay in the foreground here.',
  disabled: '"keepwell up" starts everything; name those you want: "keepwell up NAME".',
  is_tty: 'there is no terminal for a component.',
  is_elevated: 'see process.user.',
  is_foreground: 'there is no terminal for a component.',
  is_interactive: 'there is no terminal for a component.',
  log_location: OWN_LOGS,
  log_configuration: OWN_LOGS,
  disable_ansi_colors: OWN_LOGS,
  schedule: 'nothing is run by the clock: let cron run it.',
  launch_timeout_seconds: 'a startup probe says how long a start may take.',
  vars: 'templates are not filled in.',
};
const GLOBAL_SILENT =
  /^(?:version|processes|environment|env_file|name|is_strict|log_level|log_length|disable_env_expansion|x-.*)$/;

export function fromProcessCompose({ file, text }: Source, problems: Problems): ImportFindings | null {
  const root = readDocument(file, withoutMarks(text), problems);
  if (root === null) return null;
  const processes = childOf(root, 'processes');
  if (processes?.kind !== 'map' || processes.entries.size === 0) {
    problems.add(root.at, [], 'there are no "processes" in it', null);
    return null;
  }
  const losses = new Losses(file);
  for (const [key, { keyAt, value }] of root.entries) {
    if (GLOBAL_SILENT.test(key) || !isOn(value)) continue;
    losses.add(
      keyAt.line,
      null,
      key,
      key === 'shell' ? 'commands are run by /bin/sh where they need a shell.' : (LOST[key] ?? NO_COUNTERPART),
    );
  }
  const shared = { env: environmentOf(root, null, losses), files: textsOf(childOf(root, 'env_file')) };
  const all = [...processes.entries].flatMap(([name, { value, keyAt }]) => {
    if (value.kind === 'map') return [new Process(name, value, file, losses, shared)];
    losses.add(keyAt.line, name, name, 'it is no map of keys, so it was left out.');
    return [];
  });
  const drafts = all.map((one) => one.draft(all)).filter((draft) => draft !== null);
  return { drafts, lost: losses.all };
}

/** process-compose puts variables in when it reads the file; here they become variables of the configuration. */
const interpolated = (text: string): string =>
  text.replace(/\$\$|\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (whole, braced?: string, bare?: string) =>
    whole === '$$' ? '$' : variable(braced ?? bare ?? ''),
  );

/** A list of NAME=value, or a map. */
function environmentOf(node: MapNode, name: string | null, losses: Losses): Readonly<Record<string, string>> {
  const env: Record<string, string> = {};
  const given = childOf(node, 'environment');
  const put = (key: string, value: string, line: number): void => {
    if (isEnvName(key)) env[key] = interpolated(value);
    else losses.add(line, name, 'environment', `"${key.slice(0, 40)}" is no name of a variable.`);
  };
  if (given?.kind === 'map')
    for (const [key, { keyAt, value }] of given.entries) put(key, textOf(value) ?? '', keyAt.line);
  if (given?.kind === 'list')
    for (const item of given.items) {
      const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(textOf(item) ?? '') ?? [];
      put(key, value.replace(/^(["'])(.*)\1$/s, '$2'), item.at.line);
    }
  return env;
}

/** What all processes get. */
interface Shared {
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

class Process {
  readonly name: string;
  readonly #node: MapNode;
  readonly #file: string;
  readonly #losses: Losses;
  readonly #shared: Shared;

  constructor(name: string, node: MapNode, file: string, losses: Losses, shared: Shared) {
    this.name = name;
    this.#node = node;
    this.#file = file;
    this.#losses = losses;
    this.#shared = shared;
  }

  #lose(key: string, message: string, node: MapNode = this.#node): void {
    this.#losses.add(lineOf(node, key), this.name, key, message);
  }

  draft(all: readonly Process[]): Draft | null {
    const text = textOf(childOf(this.#node, 'command'));
    const entrypoint = textsOf(childOf(this.#node, 'entrypoint'));
    const line = text === undefined ? null : readLine(text);
    if (line === null && entrypoint.length === 0) {
      this.#lose('command', 'it has no command that could be run, so it was left out.');
      return null;
    }
    this.#loseOthers(text ?? '');
    const cwd = textOf(childOf(this.#node, 'working_dir'));
    const files = [...this.#shared.files, ...textsOf(childOf(this.#node, 'env_file'))];
    const description = textOf(childOf(this.#node, 'description'));
    return {
      name: this.name,
      command: line?.command ?? { argv: entrypoint },
      env: { ...this.#shared.env, ...environmentOf(this.#node, this.name, this.#losses), ...line?.env },
      ...(cwd === undefined ? {} : { cwd: interpolated(cwd) }),
      ...(files.length === 0 ? {} : { envFile: files.length === 1 ? files[0]! : files }),
      needs: this.#needs(all),
      keys: [...this.#probes(), ...this.#stop(), ...this.#restart()],
      at: { file: this.#file, line: this.#node.at.line },
      why: [
        `${this.#file}, line ${this.#node.at.line}: ${this.name}`,
        ...(description === undefined ? [] : [description.split('\n')[0]!]),
      ],
    };
  }

  get policy(): 'always' | 'on-failure' | 'never' {
    return POLICIES[textOf(childOf(childOf(this.#node, 'availability'), 'restart')) ?? 'no'] ?? 'never';
  }

  #needs(all: readonly Process[]): Readonly<Record<string, Need>> {
    const needs: Record<string, Need> = {};
    const given = childOf(this.#node, 'depends_on');
    if (given?.kind !== 'map') return needs;
    for (const [name, { keyAt, value }] of given.entries) {
      const other = all.find((one) => one.name === name);
      const need = NEEDS[textOf(childOf(value, 'condition')) ?? 'process_started'];
      const lose = (message: string) => this.#losses.add(keyAt.line, this.name, `depends_on.${name}`, message);
      if (!other || need === undefined) lose(other ? 'this condition is not known here.' : 'there is no such process.');
      else if (need === 'completed' && other.policy === 'always')
        lose('it is always restarted, so it never completes.');
      else needs[name] = need;
    }
    return needs;
  }

  #restart(): readonly string[] {
    const given = childOf(this.#node, 'availability');
    if (given?.kind !== 'map') return restartLines({ policy: 'never' });
    const word = textOf(childOf(given, 'restart')) ?? 'no';
    if (POLICIES[word] === undefined) this.#lose('restart', 'this policy is not known here.', given);
    if (word === 'exit_on_failure')
      this.#lose('restart', 'a failure does not end the others; on-failure was written.', given);
    for (const key of ['exit_on_end', 'exit_on_skipped'])
      if (isOn(childOf(given, key))) this.#lose(key, 'its end does not end the others.', given);
    const seconds = numberOf(childOf(given, 'backoff_seconds'));
    const waitMs = seconds === undefined ? undefined : seconds * 1_000;
    const most = numberOf(childOf(given, 'max_restarts'));
    const isFixed = waitMs !== undefined && waitMs > 0;
    return restartLines({
      policy: this.policy,
      ...(isFixed ? { initialMs: waitMs, factor: 1, maxMs: waitMs } : {}),
      limit: most === 0 ? undefined : most,
    });
  }

  #stop(): readonly string[] {
    const given = childOf(this.#node, 'shutdown');
    if (given?.kind !== 'map') return [];
    if (isOn(childOf(given, 'command')))
      this.#lose('command', 'a component is ended by a signal: see stop.signal.', given);
    if (isOn(childOf(given, 'parent_only')))
      this.#lose('parent_only', 'Keepwell always ends the whole process tree.', given);
    const written = textOf(childOf(given, 'signal'));
    const signal = written === undefined ? undefined : (signalName(written) ?? undefined);
    if (written !== undefined && signal === undefined)
      this.#lose('signal', 'this is no signal that ends a program.', given);
    const seconds = numberOf(childOf(given, 'timeout_seconds'));
    return stopLines(signal, seconds === undefined || seconds === 0 ? undefined : seconds * 1_000);
  }

  #probes(): readonly string[] {
    const line = textOf(childOf(this.#node, 'ready_log_line'));
    const readiness = this.#probe('readiness_probe');
    const liveness = this.#probe('liveness_probe');
    return [
      ...(readiness !== null
        ? [`readiness: ${readiness}`]
        : line === undefined
          ? []
          : [`readiness: { log: ${JSON.stringify(literal(line))} }`]),
      ...(liveness === null ? [] : [`liveness: ${liveness}`]),
    ];
  }

  #probe(key: string): string | null {
    const node = childOf(this.#node, key);
    if (node?.kind !== 'map') return null;
    const question = this.#question(node);
    if (question === null) {
      this.#lose(key, 'it asks nothing that Keepwell could ask.');
      return null;
    }
    const seconds = (name: string, ours: string): readonly Pair[] => {
      const value = numberOf(childOf(node, name));
      return value !== undefined && value > 0 && isDuration(value * 1_000) ? [[ours, durationText(value * 1_000)]] : [];
    };
    const count = (name: string): readonly Pair[] => {
      const value = numberOf(childOf(node, name));
      const isOne = name === 'success_threshold' && key === 'liveness_probe';
      return value !== undefined && Number.isInteger(value) && value >= 1 && !isOne ? [[name, String(value)]] : [];
    };
    return flowMap([
      question,
      ...seconds('period_seconds', 'period'),
      ...seconds('timeout_seconds', 'timeout'),
      ...seconds('initial_delay_seconds', 'initial_delay'),
      ...count('failure_threshold'),
      ...count('success_threshold'),
    ]);
  }

  #question(probe: MapNode): Pair | null {
    const http = childOf(probe, 'http_get');
    if (http?.kind === 'map') return this.#http(http);
    const exec = childOf(probe, 'exec');
    const line = readLine(textOf(childOf(exec, 'command')) ?? '');
    if (line === null || exec?.kind !== 'map') return null;
    const cwd = textOf(childOf(exec, 'working_dir'));
    const dir: readonly Pair[] = cwd === undefined ? [] : [['cwd', flowText(literal(cwd))]];
    if ('shell' in line.command || Object.keys(line.env).length > 0) {
      const shell = textOf(childOf(exec, 'command'))!.trim();
      return ['exec', flowMap([['command', JSON.stringify(literal(shell))], ['shell', 'true'], ...dir])];
    }
    if (!('argv' in line.command)) return null;
    return ['exec', flowMap([['command', flowList(line.command.argv.map(literal))], ...dir])];
  }

  #http(http: MapNode): Pair | null {
    const port = numberOf(childOf(http, 'port'));
    const scheme = textOf(childOf(http, 'scheme'))?.toLowerCase();
    if (
      port === undefined ||
      !Number.isInteger(port) ||
      port < 1 ||
      port > 65_535 ||
      (scheme !== undefined && !/^https?$/.test(scheme))
    )
      return null;
    const status = numberOf(childOf(http, 'status_code'));
    const [host, path] = [textOf(childOf(http, 'host')), textOf(childOf(http, 'path'))];
    return [
      'http',
      flowMap([
        ['port', String(port)],
        ...(path === undefined ? [] : [['path', flowText(literal(path.replace(/^(?!\/)/, '/')))] as const]),
        ...(host === undefined || host === '127.0.0.1' ? [] : [['host', flowText(literal(host))] as const]),
        ...(scheme === 'https' ? [['scheme', 'https'] as const] : []),
        ...(status === undefined || status < 100 || status > 599 ? [] : [['status', String(status)] as const]),
      ]),
    ];
  }

  #loseOthers(command: string): void {
    if (/\{\{.*\}\}/.test(command)) this.#lose('command', 'templates ({{ }}) are not filled in.');
    for (const [key, { value }] of this.#node.entries as ReadonlyMap<string, { readonly value: TreeNode }>) {
      if (CARRIED.has(key) || !isOn(value) || /^x-/.test(key)) continue;
      if (key === 'replicas' && numberOf(value) === 1) continue;
      this.#lose(key, LOST[key] ?? NO_COUNTERPART);
    }
  }
}
