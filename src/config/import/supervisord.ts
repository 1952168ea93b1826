/** supervisord.conf: its programs, with what %(…)s stands for put in, several processes of one program as several components. */
import { type Draft, variable, withoutMarks } from '../starter/draft.ts';
import type { Pair } from '../words/argv.ts';
import { type ImportFindings, isEnvName, Losses, NO_COUNTERPART, OWN_LOGS, type Source } from './findings.ts';
import { type IniEntry, type IniProblem, type IniSection, readIni, splitWords } from './ini.ts';
import { isDuration, mapLine, restartLines, signalName, sizeOf, stopLines } from './lines.ts';

/** What is about supervisord itself and not about its programs. */
const OWN_SECTIONS = /^(?:supervisord|supervisorctl|unix_http_server|inet_http_server|rpcinterface:.*|include)$/;
const MAX_PROCESSES = 100;

export interface SupervisordFile extends Source {
  /** The folder of the file, for %(here)s. */
  readonly here: string;
}

/** Files that [include] names, for the caller to read: they come behind the first one. */
export const includedBy = ({ text }: Source): readonly string[] =>
  readIni(withoutMarks(text), 'supervisord')
    .sections.filter(({ name }) => name === 'include')
    .flatMap(({ entries }) => entries.filter(({ key }) => key === 'files').flatMap(({ value }) => value.split(/\s+/)))
    .filter((pattern) => pattern !== '');

export interface IniFindings extends ImportFindings {
  /** Where the file itself is broken. */
  readonly problems: readonly (IniProblem & { readonly file: string })[];
}

export function fromSupervisord(files: readonly SupervisordFile[]): IniFindings {
  const read = files.map((file) => ({ file, ini: readIni(withoutMarks(file.text), 'supervisord') }));
  const shared = read.flatMap(({ ini }) => ini.sections).find(({ name }) => name === 'supervisord');
  const common = environmentOf(shared?.entries.find(({ key }) => key === 'environment')?.value ?? '') ?? [];
  const found = read.map(({ file, ini }) => {
    const losses = new Losses(file.file);
    const drafts = ini.sections.flatMap((section) => fromSection(section, file, common, losses));
    return { drafts, lost: losses.all, problems: ini.problems.map((one) => ({ ...one, file: file.file })) };
  });
  return {
    drafts: found.flatMap(({ drafts }) => drafts),
    lost: found.flatMap(({ lost }) => lost),
    problems: found.flatMap(({ problems }) => problems),
  };
}

type Variables = readonly (readonly [string, string])[];

function fromSection(section: IniSection, file: SupervisordFile, common: Variables, losses: Losses): readonly Draft[] {
  const [kind, name = ''] = section.name.split(/:(.*)/s);
  if (kind === 'program' && name !== '') return new Program(section, name, file, common, losses).drafts();
  if (OWN_SECTIONS.test(section.name)) return [];
  const messages: Readonly<Record<string, string>> = {
    group: 'Keepwell has no groups: a pattern such as "web-*" names several components.',
    eventlistener: 'Keepwell has no event listeners: see alerts, "keepwell events -f" and the API.',
    'fcgi-program': 'Keepwell opens no FastCGI socket for a program: let the program open it.',
  };
  losses.add(section.line, null, `[${section.name}]`, messages[kind!] ?? NO_COUNTERPART);
  return [];
}

/** Keys that are carried over. */
const CARRIED = new Set([
  ...['command', 'directory', 'environment', 'user', 'umask', 'autorestart', 'exitcodes', 'startsecs', 'startretries'],
  ...['stopsignal', 'stopwaitsecs', 'numprocs', 'numprocs_start', 'process_name', 'stdout_logfile_maxbytes'],
  ...['stdout_logfile_backups', 'redirect_stderr'],
]);

const LOST: Readonly<Record<string, string>> = {
  priority: 'the order is what "depends_on" says: add it where one needs the other.',
  stdout_logfile: OWN_LOGS,
  stderr_logfile: OWN_LOGS,
  stderr_logfile_maxbytes: OWN_LOGS,
  stderr_logfile_backups: OWN_LOGS,
  stdout_capture_maxbytes: OWN_LOGS,
  stderr_capture_maxbytes: OWN_LOGS,
  stdout_syslog: OWN_LOGS,
  stderr_syslog: OWN_LOGS,
};

class Program {
  readonly #section: IniSection;
  readonly #name: string;
  readonly #file: SupervisordFile;
  readonly #common: Variables;
  readonly #losses: Losses;

  constructor(section: IniSection, name: string, file: SupervisordFile, common: Variables, losses: Losses) {
    this.#section = section;
    this.#name = name;
    this.#file = file;
    this.#common = common;
    this.#losses = losses;
  }

  #entry(key: string): IniEntry | undefined {
    return this.#section.entries.findLast((entry) => entry.key === key);
  }

  #lose(entry: IniEntry, message: string): void {
    this.#losses.add(entry.line, this.#name, entry.key, message);
  }

  #number(key: string): number | undefined {
    const entry = this.#entry(key);
    if (!entry) return undefined;
    if (/^\d{1,9}$/.test(entry.value)) return Number(entry.value);
    this.#lose(entry, `"${entry.value.slice(0, 40)}" is not a whole number.`);
    return undefined;
  }

  drafts(): readonly Draft[] {
    this.#loseOthers();
    const command = this.#entry('command');
    if (!command || command.value === '') {
      this.#losses.add(this.#section.line, null, `[${this.#section.name}]`, 'it has no command, so it was left out.');
      return [];
    }
    const wanted = this.#number('numprocs') ?? 1;
    const count = Math.min(Math.max(1, wanted), MAX_PROCESSES);
    const numprocs = this.#entry('numprocs');
    if (numprocs && count < wanted) this.#lose(numprocs, `only the first ${MAX_PROCESSES} were written.`);
    const first = this.#number('numprocs_start') ?? 0;
    const keys = this.#keys();
    return Array.from({ length: count }, (_, index) => this.#draft(command, first + index, count, keys)).filter(
      (draft) => draft !== null,
    );
  }

  #draft(command: IniEntry, number: number, count: number, keys: readonly string[]): Draft | null {
    const put = (entry: IniEntry | undefined): string | undefined =>
      entry === undefined ? undefined : this.#expand(entry, number);
    const argv = splitWords(put(command)!.replaceAll('\n', ' '));
    if (argv === null || argv.length === 0) {
      this.#lose(command, 'a quote in it is not closed, so the program was left out.');
      return null;
    }
    const directory = put(this.#entry('directory'));
    const user = put(this.#entry('user'));
    const umask = this.#entry('umask')?.value;
    return {
      name: count === 1 ? this.#name : `${this.#name}-${number}`,
      command: { argv },
      env: this.#environment(number),
      ...(directory === undefined ? {} : { cwd: directory }),
      ...(user === undefined ? {} : { user }),
      ...(umask !== undefined && /^[0-7]{3,4}$/.test(umask) ? { umask } : {}),
      needs: {},
      keys,
      at: { file: this.#file.file, line: this.#section.line },
      why: [
        `${this.#file.file}, line ${this.#section.line}: [${this.#section.name}]${count === 1 ? '' : `, process ${number}`}`,
      ],
    };
  }

  #environment(number: number): Readonly<Record<string, string>> {
    const entry = this.#entry('environment');
    const own = entry === undefined ? [] : environmentOf(this.#expand(entry, number));
    if (entry && own === null) this.#lose(entry, 'it is not KEY="value",OTHER="value".');
    const all = [...this.#common, ...(own ?? [])];
    for (const [name] of all) if (!isEnvName(name) && entry) this.#lose(entry, `"${name}" is no name of a variable.`);
    return Object.fromEntries(all.filter(([name]) => isEnvName(name)));
  }

  #keys(): readonly string[] {
    const startMs = (this.#number('startsecs') ?? 1) * 1_000;
    const graceMs = this.#number('stopwaitsecs');
    const logs = this.#logs();
    const signal = this.#signal();
    return [
      ...(isDuration(startMs) ? [`min_uptime: ${startMs / 1_000}s`] : []),
      ...stopLines(signal, graceMs === undefined ? undefined : graceMs * 1_000),
      ...restartLines({ policy: this.#policy(), limit: this.#number('startretries') }),
      ...mapLine('logs', logs),
    ];
  }

  #policy(): 'always' | 'on-failure' | 'never' {
    const entry = this.#entry('autorestart');
    const word = entry?.value.toLowerCase() ?? 'unexpected';
    const codes = this.#entry('exitcodes');
    if (codes && codes.value.replaceAll(' ', '') !== '0' && word === 'unexpected')
      this.#lose(codes, 'only exit code 0 is expected here; every other one is a failure, and restarted.');
    if (word === 'unexpected') return 'on-failure';
    if (/^(?:true|yes|on|1)$/.test(word)) return 'always';
    if (entry && !/^(?:false|no|off|0)$/.test(word)) this.#lose(entry, 'it is neither true, false nor unexpected.');
    return 'never';
  }

  #signal(): string | undefined {
    const entry = this.#entry('stopsignal');
    if (!entry) return undefined;
    const name = signalName(entry.value);
    if (name === null) this.#lose(entry, 'this is no signal that ends a program.');
    return name ?? undefined;
  }

  #logs(): readonly Pair[] {
    const [bytes, backups] = [this.#entry('stdout_logfile_maxbytes'), this.#number('stdout_logfile_backups')];
    const size = bytes === undefined || bytes.value === '0' ? null : sizeOf(bytes.value);
    if (bytes && size === null) this.#lose(bytes, OWN_LOGS);
    return [
      ...(size === null ? [] : [['max_size', size] as const]),
      ...(backups === undefined || backups > 1_000 ? [] : [['keep', String(backups)] as const]),
    ];
  }

  #loseOthers(): void {
    for (const entry of this.#section.entries) {
      if (CARRIED.has(entry.key)) continue;
      const isOff = /^(?:false|no|off|0)$/i.test(entry.value);
      if (entry.key === 'autostart') {
        if (isOff) this.#lose(entry, '"keepwell up" starts everything; name those you want: "keepwell up NAME".');
      } else if (entry.key === 'stopasgroup' || entry.key === 'killasgroup') {
        if (isOff) this.#lose(entry, 'Keepwell always ends the whole process tree.');
      } else this.#lose(entry, LOST[entry.key] ?? NO_COUNTERPART);
    }
    const umask = this.#entry('umask');
    if (umask && !/^[0-7]{3,4}$/.test(umask.value)) this.#lose(umask, 'it is not an octal number such as 022.');
  }

  /** %(here)s, %(program_name)s, %(process_num)02d and %(ENV_HOME)s, which becomes a variable of the configuration. */
  #expand(entry: IniEntry, number: number): string {
    return entry.value.replace(/%%|%\((\w+)\)(0?\d*)([sd])/g, (whole, key?: string, width = '') => {
      if (key === undefined) return '%';
      if (key.startsWith('ENV_')) return variable(key.slice('ENV_'.length));
      if (key === 'here') return this.#file.here;
      if (key === 'program_name' || key === 'group_name') return this.#name;
      if (key === 'process_num') return String(number).padStart(Number(width), '0');
      if (key === 'numprocs') return this.#entry('numprocs')?.value ?? '1';
      this.#lose(entry, `${whole} is not known here and was left as it is.`);
      return whole;
    });
  }
}

/** KEY="value",OTHER=value: null when it is anything else. */
function environmentOf(text: string): Variables | null {
  const pairs: (readonly [string, string])[] = [];
  const pattern = /\s*([^=,\s]+)\s*=\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^,"']*)\s*(?:,|$)/gy;
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const value = match[2]!.trim();
    const isQuoted = /^(["']).*\1$/s.test(value);
    pairs.push([match[1]!, isQuoted ? value.slice(1, -1).replace(/\\(["\\])/g, '$1') : value]);
    end = match.index + match[0].length;
  }
  return text.slice(end).trim() === '' ? pairs : null;
}
