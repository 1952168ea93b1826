/** Units of systemd: each service one component, what it needs among the others as depends_on. */
import { type Command, type Draft, type Need, variable, withoutMarks } from '../starter/draft.ts';
import type { Pair } from '../words/argv.ts';
import { isEnvName, Losses, NO_COUNTERPART, OWN_LOGS, type Source } from './findings.ts';
import { type IniEntry, readIni, splitWords } from './ini.ts';
import { isDuration, mapLine, restartLines, signalName, sizeOf, stopLines } from './lines.ts';
import type { IniFindings } from './supervisord.ts';

export interface UnitFile extends Source {
  /** "api.service", "worker@2.service" */
  readonly unit: string;
}

export function fromSystemd(files: readonly UnitFile[]): IniFindings {
  const units = files.map((file) => new Unit(file));
  const services = units.filter(({ isService }) => isService);
  const drafts = services.map((unit) => unit.draft(services)).filter((draft) => draft !== null);
  return {
    drafts,
    lost: units.flatMap(({ losses }) => losses.all),
    problems: units.flatMap(({ problems, file }) => problems.map((one) => ({ ...one, file: file.file }))),
  };
}

const SERVICE_LOST: Readonly<Record<string, string>> = {
  ExecStartPre:
    'nothing is run before each start: make it a component with "restart: { policy: on-failure }" and depend on it: completed.',
  ExecStartPost: 'nothing is run after a start: wait with "keepwell wait" or a readiness probe.',
  ExecStop: 'a component is ended by a signal: see stop.signal and stop.grace.',
  ExecStopPost: 'nothing is run after an end.',
  ExecReload: 'there is no reload of a program: "keepwell restart" starts it again.',
  ExecCondition: 'there are no conditions: it is always started.',
  WatchdogSec: 'sd_notify is not read: see heartbeat.',
  NotifyAccess: 'sd_notify is not read: write a readiness probe.',
  TimeoutStartSec: 'a startup probe says how long a start may take.',
  TimeoutSec: 'only its part for stopping is carried over: a startup probe says how long a start may take.',
  CPUQuota: 'there is no limit of processor time for processes.',
  StandardOutput: OWN_LOGS,
  StandardError: OWN_LOGS,
  SyslogIdentifier: OWN_LOGS,
  PIDFile: 'the process is watched itself.',
  RuntimeMaxSec: 'there is no longest time for a component.',
  OOMScoreAdjust: NO_COUNTERPART,
  SuccessExitStatus: 'list its exit codes in "restart: { success_codes: […] }".',
};

const CARRIED = new Set([
  ...['Type', 'ExecStart', 'Environment', 'EnvironmentFile', 'WorkingDirectory', 'User', 'Group', 'UMask', 'Nice'],
  ...['Restart', 'RestartSec', 'RestartMaxDelaySec', 'StartLimitBurst', 'StartLimitInterval', 'StartLimitIntervalSec'],
  ...['TimeoutStopSec', 'KillSignal', 'KillMode', 'RestartPreventExitStatus', 'MemoryMax', 'MemoryLimit', 'TasksMax'],
  ...['LimitNOFILE', 'RemainAfterExit'],
]);
const UNIT_CARRIED = new Set([
  ...[
    'Description',
    'Documentation',
    'After',
    'Requires',
    'Wants',
    'BindsTo',
    'StartLimitBurst',
    'StartLimitIntervalSec',
  ],
  ...['StartLimitInterval', 'DefaultDependencies'],
]);
const SANDBOX =
  /^(?:Protect|Private|Restrict|NoNewPrivileges|ReadOnly|ReadWrite|Inaccessible|SystemCall|Capability|Ambient|Lock|MemoryDeny|Dynamic|Remove|Secure|IPAddress|Bind|Temporary|Root)/;
const POLICIES: Readonly<Record<string, 'always' | 'on-failure' | 'never'>> = {
  no: 'never',
  always: 'always',
  'on-failure': 'on-failure',
};

class Unit {
  readonly file: UnitFile;
  readonly losses: Losses;
  readonly name: string;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  readonly #sections: ReadonlyMap<string, readonly IniEntry[]>;
  readonly #instance: string | null;

  constructor(file: UnitFile) {
    this.file = file;
    this.losses = new Losses(file.file);
    const stem = file.unit.replace(/\.\w+$/, '');
    const [base = stem, instance] = stem.split('@', 2);
    this.#instance = instance === undefined || instance === '' ? null : instance;
    this.name = this.#instance === null ? base : `${base}-${this.#instance}`;
    const { sections, problems } = readIni(withoutMarks(file.text), 'systemd');
    this.problems = problems;
    const all = new Map<string, readonly IniEntry[]>();
    for (const { name, line, entries } of sections) {
      all.set(name, [...(all.get(name) ?? []), ...entries]);
      if (!/^(?:Unit|Service|Install)$/.test(name) && !name.startsWith('X-'))
        this.losses.add(line, null, `[${name}]`, `${name.toLowerCase()} units have no counterpart in Keepwell.`);
    }
    this.#sections = all;
  }

  get isService(): boolean {
    return this.#sections.has('Service');
  }

  /** The values in force: an empty assignment forgets those before it. */
  #values(section: string, key: string): readonly IniEntry[] {
    const all = (this.#sections.get(section) ?? []).filter((entry) => entry.key === key);
    const reset = all.findLastIndex(({ value }) => value === '');
    return all.slice(reset + 1);
  }

  #last(key: string, section = 'Service'): IniEntry | undefined {
    return this.#values(section, key).at(-1);
  }

  #lose(entry: IniEntry, message: string): void {
    this.losses.add(entry.line, this.name, entry.key, message);
  }

  get #type(): string {
    return this.#last('Type')?.value ?? 'simple';
  }

  get isJob(): boolean {
    return this.#type === 'oneshot';
  }

  draft(others: readonly Unit[]): Draft | null {
    this.#loseOthers();
    const command = this.#command();
    if (command === null) return null;
    const description = this.#last('Description', 'Unit')?.value;
    const [user, group, umask, nice] = ['User', 'Group', 'UMask', 'Nice'].map((key) => this.#last(key));
    return {
      name: this.name,
      command,
      cwd: this.#directory(),
      env: this.#environment(),
      ...this.#environmentFiles(),
      ...(user === undefined ? {} : { user: this.#expand(user) }),
      ...(group === undefined ? {} : { group: this.#expand(group) }),
      ...(umask !== undefined && /^[0-7]{3,4}$/.test(umask.value) ? { umask: umask.value } : {}),
      ...(nice !== undefined && /^-?(?:1?\d|20)$/.test(nice.value) && Number(nice.value) < 20
        ? { nice: Number(nice.value) }
        : {}),
      needs: this.#needs(others),
      keys: this.#keys(),
      at: { file: this.file.file, line: 1 },
      why: [`${this.file.file}${description === undefined ? '' : `: ${description}`}`, ...this.#typeRemark()],
    };
  }

  #typeRemark(): readonly string[] {
    const type = this.#type;
    const entry = this.#last('Type');
    if (type === 'forking' && entry) {
      this.#lose(entry, 'a program must stay in the foreground here: look for its option, such as --no-daemon.');
      return ['It must stay in the foreground: change its command.'];
    }
    if (/^notify/.test(type) && entry) this.#lose(entry, 'sd_notify is not read: write a readiness probe.');
    else if ((type === 'dbus' || type === 'idle') && entry) this.#lose(entry, 'it is started like any other.');
    return this.isJob ? ['A job: it does its work and ends.'] : [];
  }

  #command(): Command | null {
    const entries = this.#values('Service', 'ExecStart');
    if (entries.length === 0) {
      this.losses.add(1, this.name, '[Service]', 'it has no ExecStart, so it was left out.');
      return null;
    }
    const lines = entries.map((entry) => this.#line(entry));
    const [first] = lines;
    if (lines.length === 1 && first!.isForgiven)
      this.#lose(first!.entry, 'a failure is a failure here: the "-" before the command has no counterpart.');
    const needsShell = lines.length > 1 || lines.some(({ text }) => text.replaceAll('$$', '').includes('$'));
    if (needsShell) {
      const texts = lines.map(({ text, isForgiven }) => {
        const escaped = text.replaceAll('$$', '\\$');
        return lines.length > 1 && isForgiven ? `{ ${escaped} || :; }` : escaped;
      });
      return { shell: lines.length === 1 ? `exec ${texts[0]}` : texts.join(' && ') };
    }
    const argv = splitWords(first!.text.replaceAll('$$', '$'));
    if (argv !== null && argv.length > 0) return { argv };
    this.#lose(first!.entry, 'a quote in it is not closed, so the unit was left out.');
    return null;
  }

  /** Without the marks before it: `-` forgives a failure, `@` names the program twice, `+` and `!` have to do with rights. */
  #line(entry: IniEntry): { readonly entry: IniEntry; readonly text: string; readonly isForgiven: boolean } {
    const [, marks = '', rest = ''] = /^([-@:+!|]*)\s*(.*)$/s.exec(this.#expand(entry)) ?? [];
    if (/[+!]/.test(marks)) this.#lose(entry, 'the marks + and ! before a command are not known here.');
    const text = marks.includes('@') ? rest.replace(/^(\S+)\s+\S+/, '$1') : rest;
    return { entry, text, isForgiven: marks.includes('-') };
  }

  /** A service of the system begins at the root. */
  #directory(): string {
    const entry = this.#last('WorkingDirectory');
    const path = entry === undefined ? '/' : this.#expand(entry).replace(/^-/, '');
    return path === '~' ? variable('HOME') : path;
  }

  #environment(): Readonly<Record<string, string>> {
    const env: Record<string, string> = {};
    for (const entry of this.#values('Service', 'Environment')) {
      for (const word of splitWords(this.#expand(entry)) ?? []) {
        const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
        if (isEnvName(name)) env[name] = value;
        else this.#lose(entry, `"${word.slice(0, 40)}" is not NAME=value.`);
      }
    }
    return env;
  }

  #environmentFiles(): { readonly envFile?: string | readonly string[] } {
    const files = this.#values('Service', 'EnvironmentFile').map((entry) => {
      const path = this.#expand(entry);
      if (path.startsWith('-')) this.#lose(entry, 'the file must exist here: a start fails without it.');
      return path.replace(/^-/, '');
    });
    return files.length === 0 ? {} : { envFile: files.length === 1 ? files[0]! : files };
  }

  #keys(): readonly string[] {
    const stopSignal = this.#signal();
    return [
      ...stopLines(stopSignal, this.#span('TimeoutStopSec') ?? this.#span('TimeoutSec')),
      ...restartLines(this.#restart()),
      ...mapLine('limits', this.#limits()),
    ];
  }

  #restart() {
    const entry = this.#last('Restart');
    const word = entry?.value ?? 'no';
    const policy = POLICIES[word] ?? 'on-failure';
    if (entry && POLICIES[word] === undefined)
      this.#lose(entry, `"${word.slice(0, 40)}" is not known here; on-failure was written.`);
    const waitMs = this.#span('RestartSec');
    const maxMs = this.#span('RestartMaxDelaySec');
    const [burst, within] = [
      this.#limitEntry('StartLimitBurst'),
      this.#span('StartLimitIntervalSec') ?? this.#span('StartLimitInterval'),
    ];
    return {
      policy: this.isJob ? ('on-failure' as const) : policy,
      initialMs: waitMs,
      factor: waitMs !== undefined && maxMs === undefined ? 1 : undefined,
      maxMs: maxMs ?? waitMs,
      limit: burst && /^\d{1,6}$/.test(burst.value) ? Number(burst.value) : undefined,
      withinMs: within === 0 ? undefined : within,
      neverOn: this.#neverOn(),
    };
  }

  #limitEntry(key: string): IniEntry | undefined {
    return this.#last(key, 'Unit') ?? this.#last(key);
  }

  #neverOn(): readonly (string | number)[] {
    return this.#values('Service', 'RestartPreventExitStatus').flatMap((entry) =>
      entry.value.split(/\s+/).flatMap((word): (string | number)[] => {
        if (/^\d{1,3}$/.test(word) && Number(word) > 0 && Number(word) < 256) return [Number(word)];
        const signal = /^SIG/.test(word) ? signalName(word) : null;
        if (signal === null) this.#lose(entry, `"${word.slice(0, 40)}" is no exit code or signal that is known here.`);
        return signal === null ? [] : [signal];
      }),
    );
  }

  #signal(): string | undefined {
    const entry = this.#last('KillSignal');
    if (!entry) return undefined;
    const name = signalName(entry.value);
    if (name === null) this.#lose(entry, 'this is no signal that ends a program.');
    return name ?? undefined;
  }

  #limits(): readonly Pair[] {
    const memory = this.#last('MemoryMax') ?? this.#last('MemoryLimit');
    const [tasks, files] = [this.#last('TasksMax'), this.#last('LimitNOFILE')];
    const size = memory === undefined ? null : sizeOf(memory.value);
    if (memory && size === null && memory.value !== 'infinity')
      this.#lose(memory, 'this is no size that is known here.');
    const count = (entry: IniEntry | undefined, min: number, max: number): number | null => {
      if (!entry || entry.value === 'infinity') return null;
      const value = /^\d{1,9}(?::\d{1,9})?$/.test(entry.value) ? Number(entry.value.split(':')[0]) : Number.NaN;
      if (value >= min && value <= max) return value;
      this.#lose(entry, `it must be a whole number from ${min} to ${max} here.`);
      return null;
    };
    const [pids, nofile] = [count(tasks, 1, 4_194_304), count(files, 16, 1_048_576)];
    return [
      ...(size === null ? [] : [['memory', size] as const]),
      ...(pids === null ? [] : [['pids', String(pids)] as const]),
      ...(nofile === null ? [] : [['nofile', String(nofile)] as const]),
    ];
  }

  /** Those of the units that are imported together; without a circle, which systemd would refuse, too. */
  #needs(others: readonly Unit[]): Readonly<Record<string, Need>> {
    const needs: Record<string, Need> = {};
    for (const key of ['After', 'Requires', 'BindsTo', 'Wants']) {
      for (const entry of this.#values('Unit', key)) {
        for (const unit of entry.value.split(/\s+/).filter((word) => word !== '')) {
          const other = others.find(({ file }) => file.unit === unit);
          if (other && other !== this) needs[other.name] = other.isJob ? 'completed' : 'started';
          else if (
            !other &&
            !/\.(?:target|socket|mount|device|slice|path|timer)$|^systemd-|^dbus\.|^network/.test(unit)
          )
            this.#lose(entry, `${unit} was not imported; import it together with this one, or watch it as "external".`);
        }
      }
    }
    return needs;
  }

  /** "90", "1min 30s", "500ms"; undefined: not given, or endless. */
  #span(key: string): number | undefined {
    const entry = this.#limitEntry(key);
    if (!entry || entry.value === 'infinity') return undefined;
    const ms = spanMs(entry.value);
    if (isDuration(ms)) return ms;
    this.#lose(entry, `"${entry.value.slice(0, 40)}" is no span of time that is known here.`);
    return undefined;
  }

  #loseOthers(): void {
    for (const entry of this.#sections.get('Service') ?? []) {
      if (entry.key === 'KillMode' && !/^(?:control-group|mixed)$/.test(entry.value))
        this.#lose(entry, 'Keepwell always ends the whole process tree.');
      if (CARRIED.has(entry.key) || entry.value === '') continue;
      const isUsual = /^Standard/.test(entry.key) && /^(?:journal|inherit)/.test(entry.value);
      const message = SANDBOX.test(entry.key)
        ? 'Keepwell has no sandbox: run it in a container, or leave this unit to systemd.'
        : (SERVICE_LOST[entry.key] ?? NO_COUNTERPART);
      if (!isUsual) this.#lose(entry, message);
    }
    for (const entry of this.#sections.get('Unit') ?? [])
      if (!UNIT_CARRIED.has(entry.key) && entry.value !== '') this.#lose(entry, NO_COUNTERPART);
  }

  #expand(entry: IniEntry): string {
    const known: Readonly<Record<string, string>> = {
      '%': '%',
      n: this.file.unit,
      N: this.file.unit.replace(/\.\w+$/, ''),
      p: this.file.unit.replace(/[@.].*$/, ''),
      h: variable('HOME'),
      u: variable('USER'),
      t: '/run',
      S: '/var/lib',
      C: '/var/cache',
      L: '/var/log',
      E: '/etc',
      T: '/tmp',
      ...(this.#instance === null ? {} : { i: this.#instance, I: this.#instance }),
    };
    return entry.value.replace(/%(.)/g, (whole, letter: string) => {
      if (Object.hasOwn(known, letter)) return known[letter]!;
      const why = /i/i.test(letter) ? 'import an instance: name the file worker@1.service' : 'it was left as it is';
      this.#lose(entry, `${whole} is not known: ${why}.`);
      return whole;
    });
  }
}

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|msec)$/, 1],
  [/^(?:|s|sec|seconds?)$/, 1_000],
  [/^(?:m|min|minutes?)$/, 60_000],
  [/^(?:h|hr|hours?)$/, 3_600_000],
  [/^(?:d|days?)$/, 86_400_000],
  [/^(?:w|weeks?)$/, 604_800_000],
];

function spanMs(text: string): number | null {
  const parts = [...text.matchAll(/\s*(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]*)/gy)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return null;
  let sum = 0;
  for (const [, count, unit = ''] of parts) {
    const size = UNITS.find(([pattern]) => pattern.test(unit))?.[1];
    if (size === undefined) return null;
    sum += Math.round(Number(count) * size);
  }
  return sum;
}
