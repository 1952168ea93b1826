/** PM2: ecosystem files, dump.pm2 and what "pm2 jlist" prints. The last two have what really runs, with the whole environment of a shell. */
import { tellsSecret } from '../../base/pure/redact.ts';
import { readDocument } from '../document.ts';
import { parseDuration } from '../duration.ts';
import type { Problems } from '../problem.ts';
import { readLine } from '../starter/command-line.ts';
import { type Command, type Draft, withoutMarks } from '../starter/draft.ts';
import type { MapNode, TreeNode } from '../tree.ts';
import { type ImportFindings, isEnvName, Losses, NO_COUNTERPART, OWN_LOGS, type Source } from './findings.ts';
import { splitWords } from './ini.ts';
import { mapLine, type RestartWords, restartLines, sizeOf, stopLines } from './lines.ts';
import { childOf, isOn, lineOf, numberOf, textOf, textsOf } from './nodes.ts';

/** What PM2 runs a file with, by its ending. */
const INTERPRETERS: Readonly<Record<string, string>> = {
  js: 'node',
  mjs: 'node',
  cjs: 'node',
  ts: 'bun',
  py: 'python3',
  sh: 'bash',
  rb: 'ruby',
  php: 'php',
  pl: 'perl',
};

/** What PM2 itself calls in a dump what an ecosystem file calls otherwise. */
const DUMPED: Readonly<Record<string, string>> = {
  pm_exec_path: 'script',
  pm_cwd: 'cwd',
  exec_interpreter: 'interpreter',
};

/** Said by PM2 about a process, never by a person. */
const INTERNAL =
  /^(?:pm_|axm_|_|pm2_|vizion|versioning|status|unique_id|created_at|restart_time|unstable_restarts|exit_code|km_link|node_version|version|username|windowsHide|prev_restart_delay|env|filter_env|NODE_APP_INSTANCE|pmx|automation|instance_var|merge_logs|treekill|windows|source_map_support|disable_source_map_support|interpreter_args|node_args|namespace|PM2_)/;

const LOST: Readonly<Record<string, string>> = {
  cron_restart: 'nothing is restarted by the clock: let cron run "keepwell restart NAME".',
  cron: 'nothing is restarted by the clock: let cron run "keepwell restart NAME".',
  watch: 'nothing is restarted when files change.',
  ignore_watch: 'nothing is restarted when files change.',
  watch_delay: 'nothing is restarted when files change.',
  watch_options: 'nothing is restarted when files change.',
  wait_ready: 'process.send("ready") is not read: write a readiness probe.',
  listen_timeout: 'a startup probe says how long a start may take.',
  shutdown_with_message: 'it is ended by a signal: see stop.signal.',
  increment_var: 'there are no instances to count.',
  instance_var: 'there are no instances to count.',
  log_file: OWN_LOGS,
  out_file: OWN_LOGS,
  error_file: OWN_LOGS,
  output: OWN_LOGS,
  error: OWN_LOGS,
  log: OWN_LOGS,
  log_date_format: 'each line has its time: "keepwell logs -t".',
  time: 'each line has its time: "keepwell logs -t".',
  log_type: OWN_LOGS,
  merge_logs: OWN_LOGS,
  combine_logs: OWN_LOGS,
  disable_logs: OWN_LOGS,
  deploy: 'Keepwell does not deploy.',
  post_update: 'Keepwell does not deploy.',
};
/** Means nothing here, and nobody misses it. */
const SILENT =
  /^(?:vizion|pmx|automation|source_map_support|disable_source_map_support|treekill|windowsHide|kill_retry_time|namespace|autostart|force|filter_env|id|pid|monit|append_env_to_name|trace)$/;
const CARRIED = new Set([
  ...['name', 'script', 'args', 'cwd', 'interpreter', 'interpreter_args', 'node_args', 'env', 'instances', 'exec_mode'],
  ...['autorestart', 'max_restarts', 'min_uptime', 'restart_delay', 'exp_backoff_restart_delay', 'kill_timeout'],
  ...['stop_exit_codes', 'max_memory_restart', 'uid', 'gid', 'user', 'group'],
]);

/** Variables of every shell, in a dump: they say nothing about the program. */
const OF_A_SHELL =
  /^(?:PATH|HOME|PWD|OLDPWD|SHELL|SHLVL|USER|USERNAME|LOGNAME|LANG|LANGUAGE|TERM|COLORTERM|HOSTNAME|MAIL|EDITOR|VISUAL|PAGER|DISPLAY|TZ|HIST\w*|LS_COLORS|LESS\w*|LC_\w+|SSH_\w+|XDG_\w+|DBUS_\w+|NVM_\w+|PM2_\w+|npm_\w+|SUDO_\w+|GPG_\w+|WSL\w*|VSCODE_\w+|_\w*|unique_id|PM2_HOME|NODE_APP_INSTANCE|COLUMNS|LINES|MOTD_SHOWN|INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_\w+)$/;

/** A list, as dumps and "pm2 jlist" have it, is read as the apps of an ecosystem file; lines stay what they are. */
export function fromPm2({ file, text }: Source, problems: Problems): ImportFindings | null {
  const clean = withoutMarks(text);
  const isList = /^\s*\[/.test(clean);
  const root = readDocument(file, isList ? `{"apps":${clean}}` : clean, problems);
  if (root === null) return null;
  const losses = new Losses(file);
  const apps = childOf(root, 'apps') ?? (root.entries.has('script') ? root : undefined);
  const all = apps?.kind === 'list' ? apps.items : apps?.kind === 'map' ? [apps] : [];
  if (all.length === 0) {
    problems.add(
      root.at,
      [],
      'there are no "apps" in it',
      'An ecosystem file has { "apps": [{ "name": …, "script": … }] }.',
    );
    return null;
  }
  if (root !== apps)
    for (const [key, { keyAt }] of root.entries)
      if (key !== 'apps') losses.add(keyAt.line, null, key, LOST[key] ?? NO_COUNTERPART);
  const drafts = all.flatMap((node, index) => {
    if (node.kind === 'map') return new App(node, index, isList, file, losses).draft() ?? [];
    losses.add(node.at.line, null, `app ${index + 1}`, 'it is no map of keys, so it was left out.');
    return [];
  });
  return { drafts: isList ? withoutInstances(drafts) : drafts, lost: losses.all };
}

/** A dump has each instance of a cluster; one of them is enough to know. */
const withoutInstances = (drafts: readonly Draft[]): readonly Draft[] =>
  drafts.filter((draft, index) => {
    const isSame = (other: Draft) =>
      other.name === draft.name && JSON.stringify(other.command) === JSON.stringify(draft.command);
    return drafts.findIndex(isSame) === index;
  });

class App {
  /** "pm2 jlist" has nearly everything one level deeper. */
  readonly #node: MapNode;
  readonly #isDump: boolean;
  readonly #file: string;
  readonly #losses: Losses;
  readonly #name: string;

  constructor(node: MapNode, index: number, isDump: boolean, file: string, losses: Losses) {
    const inner = childOf(node, 'pm2_env');
    this.#node = inner?.kind === 'map' ? inner : node;
    this.#isDump = isDump && (inner !== undefined || this.#node.entries.has('pm_exec_path'));
    this.#file = file;
    this.#losses = losses;
    const script = this.#text('script') ?? '';
    const base = script
      .split('/')
      .at(-1)!
      .replace(/\.\w+$/, '');
    this.#name = textOf(childOf(node, 'name')) ?? this.#text('name') ?? (base || `app-${index + 1}`);
  }

  #get(key: string): TreeNode | undefined {
    const dumped = Object.entries(DUMPED).find(([, ours]) => ours === key)?.[0];
    return (this.#isDump && dumped !== undefined ? childOf(this.#node, dumped) : undefined) ?? childOf(this.#node, key);
  }

  #text(key: string): string | undefined {
    return textOf(this.#get(key));
  }

  #lose(key: string, message: string): void {
    this.#losses.add(lineOf(this.#node, key), this.#name, key, message);
  }

  draft(): Draft | null {
    const command = this.#command();
    if (command === null) return null;
    this.#loseOthers();
    const [cwd, user, group] = [
      this.#text('cwd'),
      this.#text('uid') ?? this.#text('user'),
      this.#text('gid') ?? this.#text('group'),
    ];
    return {
      name: this.#name,
      command,
      ...(cwd === undefined ? {} : { cwd }),
      ...(user === undefined || this.#isDump ? {} : { user }),
      ...(group === undefined || this.#isDump ? {} : { group }),
      env: this.#environment(),
      needs: {},
      keys: this.#keys(),
      at: { file: this.#file, line: this.#node.at.line },
      why: [`${this.#file}, line ${this.#node.at.line}: ${this.#name}`],
    };
  }

  #command(): Command | null {
    const script = this.#text('script')?.trim();
    if (script === undefined || script === '') {
      this.#lose('script', 'it has no script, so it was left out.');
      return null;
    }
    const args = this.#words('args');
    const options = [...this.#words('interpreter_args'), ...this.#words('node_args')];
    const given = this.#text('interpreter');
    // "npm start" in one text: PM2 runs the first word of it.
    if (given === undefined && /\s/.test(script) && !script.startsWith('/')) {
      const line = readLine([script, ...args].join(' '));
      if (line !== null) return line.command;
    }
    const interpreter = this.#interpreter(script, given);
    return { argv: interpreter === null ? [script, ...args] : [interpreter, ...options, script, ...args] };
  }

  /** Null: it is a program by itself. */
  #interpreter(script: string, given: string | undefined): string | null {
    if (given === 'none' || given === '') return null;
    if (given?.startsWith('node@')) this.#lose('interpreter', 'this version of Node is not looked for: give its path.');
    if (given !== undefined)
      return given.startsWith('node@') ? 'node' : this.#isDump && /\/node$/.test(given) ? 'node' : given;
    const ending = /\.(\w+)$/.exec(script)?.[1]?.toLowerCase();
    if (ending !== undefined && INTERPRETERS[ending] !== undefined) return INTERPRETERS[ending];
    return script.includes('/') && ending === undefined ? 'node' : null;
  }

  #words(key: string): readonly string[] {
    const node = this.#get(key);
    if (node?.kind === 'list') return textsOf(node);
    const text = textOf(node);
    if (text === undefined || text.trim() === '' || node?.kind !== 'scalar' || node.value === false) return [];
    const words = splitWords(text);
    if (words === null) this.#lose(key, 'a quote in it is not closed; it was split at blanks.');
    return words ?? text.trim().split(/\s+/);
  }

  #environment(): Readonly<Record<string, string>> {
    const env: Record<string, string> = {};
    const node = this.#get('env');
    if (node?.kind !== 'map') return env;
    for (const [name, { keyAt, value }] of node.entries) {
      const text = textOf(value);
      if (this.#isDump && (OF_A_SHELL.test(name) || text === undefined || name === this.#name)) continue;
      if (!isEnvName(name) || text === undefined) {
        this.#losses.add(keyAt.line, this.#name, `env.${name}`, 'this is no variable that a program could be given.');
      } else if (this.#isDump && tellsSecret(name)) {
        this.#losses.add(
          keyAt.line,
          this.#name,
          `env.${name}`,
          'it looks like a secret: put it into a file and name that with env_file.',
        );
      } else env[name] = text;
    }
    return env;
  }

  #keys(): readonly string[] {
    const minUptime = this.#ms('min_uptime');
    const memory = this.#get('max_memory_restart');
    const size = textOf(memory) === undefined ? null : sizeOf(textOf(memory)!);
    if (isOn(memory) && size === null) this.#lose('max_memory_restart', 'this is no size that is known here.');
    const restart = this.#restart();
    return [
      ...(minUptime === undefined || restart.policy === 'never'
        ? []
        : [`min_uptime: ${minUptime < 1_000 ? `${minUptime}ms` : `${Math.round(minUptime / 1_000)}s`}`]),
      // What PM2 asks with, and what programs under it are used to.
      ...stopLines('SIGINT', this.#ms('kill_timeout')),
      ...restartLines(restart),
      ...mapLine('limits', size === null ? [] : [['soft_memory', size]]),
    ];
  }

  #restart(): RestartWords {
    const autorestart = this.#get('autorestart');
    const isOff = autorestart?.kind === 'scalar' && autorestart.value === false;
    const codes = textsOf(this.#get('stop_exit_codes'))
      .map(Number)
      .filter((code) => Number.isInteger(code) && code >= 0 && code < 256);
    const delayMs = this.#ms('restart_delay');
    const backoffMs = this.#ms('exp_backoff_restart_delay');
    const isExponential = backoffMs !== undefined && backoffMs > 0;
    const isFixed = !isExponential && delayMs !== undefined && delayMs > 0;
    return {
      policy: isOff ? 'never' : codes.includes(0) ? 'on-failure' : 'always',
      initialMs: isExponential ? backoffMs : isFixed ? delayMs : undefined,
      factor: isExponential ? 1.5 : isFixed ? 1 : undefined,
      maxMs: isExponential ? Math.max(backoffMs, PM2_MAX_BACKOFF_MS) : isFixed ? delayMs : undefined,
      limit: numberOf(this.#get('max_restarts')),
      neverOn: codes.filter((code) => code !== 0),
    };
  }

  /** Milliseconds, or a text with a unit. */
  #ms(key: string): number | undefined {
    const node = this.#get(key);
    const text = textOf(node)?.trim();
    if (text === undefined || text === '') return undefined;
    const ms = numberOf(node) ?? parseDuration(text);
    if (ms !== null && ms >= 0) return Math.round(ms);
    this.#lose(key, 'this is no time that is known here.');
    return undefined;
  }

  #loseOthers(): void {
    const instances = this.#text('instances') ?? '1';
    const isCluster = /cluster/.test(this.#text('exec_mode') ?? '');
    if (!/^1$/.test(instances) && this.#get('instances'))
      this.#lose('instances', 'one process is started: copy the component for more, each with a port of its own.');
    else if (isCluster && !this.#isDump)
      this.#lose('exec_mode', 'one plain process is started: there is no cluster that shares a port.');
    for (const [key, { value }] of this.#node.entries) {
      if (CARRIED.has(key) || SILENT.test(key) || !isOn(value)) continue;
      if (this.#isDump && (INTERNAL.test(key) || LOST[key] === undefined)) continue;
      if (/^env_/.test(key))
        this.#lose(
          key,
          'there are no environments to choose from: put it into a second file and give both, -f keepwell.yaml -f production.yaml.',
        );
      else this.#lose(key, LOST[key] ?? NO_COUNTERPART);
    }
  }
}

/** As PM2 has it. */
const PM2_MAX_BACKOFF_MS = 15_000;
