/** The text of the systemd unit, and what an existing one says about itself. */
import { SERVICE_VARIABLE } from '../../base/pure/service.ts';
import { usage } from '../call.ts';

export type Scope = 'user' | 'system';

export interface UnitFacts {
  readonly scope: Scope;
  /** "keepwell-shop.service" */
  readonly unit: string;
  readonly project: string;
  /** Absolute. */
  readonly node: string;
  readonly entry: string;
  readonly files: readonly string[];
  /** The folder of the first file. */
  readonly dir: string;
  /** KEEPWELL_HOME, when it is set. */
  readonly home: string | null;
  readonly path: string | null;
  /** Whose project it is; null: the one who runs systemd. */
  readonly user: string | null;
  readonly stopSeconds: number;
}

/** A crash is answered after this; the daemon itself is up within a few hundred milliseconds. */
const RESTART_SECONDS = 1;
/** What components begin with, as after a login. The daemon itself raises its own limit to the second figure. */
const SOFT_FILES = 1024;
const HARD_FILES = 524_288;
/** Mistakes in the call or the configuration do not heal by trying again. */
const USAGE_EXIT = 2;

const MARK = '# keepwell: ';

export function unitText(facts: UnitFacts): string {
  const { scope, unit, project, files, dir, home, path, user, stopSeconds } = facts;
  const isSystem = scope === 'system';
  const keepwell = [program(facts.node), ...[facts.entry, ...files.flatMap((file) => ['-f', file])].map(argument)];
  const environment = [
    assignment(SERVICE_VARIABLE, unit),
    assignment('KEEPWELL_SOFT_NOFILE', String(SOFT_FILES)),
    ...(home === null ? [] : [assignment('KEEPWELL_HOME', home)]),
    ...(path === null ? [] : [assignment('PATH', path)]),
  ];
  const lines = [
    '# Written by "keepwell service install", which also replaces it. To change something, use "systemctl edit".',
    `${MARK}${JSON.stringify({ files })}`,
    '',
    '[Unit]',
    `Description=Keepwell for ${label(project)}`,
    ...(isSystem ? ['Wants=network-online.target', 'After=network-online.target docker.service'] : []),
    '# However often it dies, it is brought back.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    ...(user === null ? [] : [`User=${user}`]),
    `WorkingDirectory=${bare(dir)}`,
    ...environment.map((each) => `Environment=${each}`),
    `ExecStart=${[...keepwell, 'daemon'].join(' ')}`,
    `ExecReload=${[...keepwell, 'reload', '--no-wait'].join(' ')}`,
    'Restart=on-failure',
    `RestartSec=${RESTART_SECONDS}`,
    `RestartPreventExitStatus=${USAGE_EXIT}`,
    '# Only the daemon is signalled: it stops the components in order, and its crash leaves them alone.',
    'KillMode=process',
    'Delegate=yes',
    '# The longest chain of stop graces, and a little more.',
    `TimeoutStopSec=${stopSeconds}`,
    `LimitNOFILE=${SOFT_FILES}:${HARD_FILES}`,
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** The configuration files that a unit of ours was written for; null: it is not ours. */
export function filesOf(text: string): readonly string[] | null {
  try {
    const line = text.split('\n').find((each) => each.startsWith(MARK));
    const { files } = JSON.parse(line?.slice(MARK.length) ?? 'null') as { files: readonly string[] };
    return files;
  } catch {
    return null;
  }
}

export interface Difference {
  readonly key: string;
  readonly is: string | null;
  readonly shouldBe: string | null;
}

/** What would be another in a unit written now. The search path is left out: every shell has its own. */
export function differences(written: string, wanted: string): readonly Difference[] {
  const [is, shouldBe] = [settings(written), settings(wanted)];
  return [...new Set([...is.keys(), ...shouldBe.keys()])].flatMap((key) => {
    const [a, b] = [is.get(key) ?? null, shouldBe.get(key) ?? null];
    return a === b ? [] : [{ key, is: a, shouldBe: b }];
  });
}

/** Key → value; of a key that may stand there several times, each variable counts by itself. */
function settings(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) continue;
    const [, variable] = key === 'Environment' ? (/^"?([A-Z_]+)=/.exec(value) ?? []) : [];
    if (variable !== 'PATH') found.set(variable === undefined ? key : `${key} ${variable}`, value);
  }
  return found;
}

// How values are written in a systemd unit so that they arrive as they are (systemd.syntax(7), "Quoting" in systemd.service(5)).

/** Specifiers such as %h are filled in everywhere; a doubled sign is one sign. */
const plainPercent = (text: string): string => text.replaceAll('%', '%%');

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const inQuotes = (text: string): string => {
  const escaped = text.replace(/[\\"\u0000-\u001f\u007f]/g, (char) => {
    return ESCAPES[char] ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
};

/** One argument of a command: also variables are filled in there, and $$ is one dollar. */
export const argument = (text: string): string => maybeQuoted(plainPercent(text.replaceAll('$', '$$$$')));

/**
 * The program of a command: no variables are filled in here, so a dollar is a dollar. One whose path has quotes, backslashes or
 * control characters is refused by systemd however they are written; as an argument of `env` it is not.
 */
export const program = (path: string): string =>
  /["'\\\p{Cc}]/u.test(path) ? `/usr/bin/env ${argument(path)}` : maybeQuoted(plainPercent(path));

/** An assignment of `Environment=`: dollars mean nothing there. */
export const assignment = (name: string, value: string): string => maybeQuoted(plainPercent(`${name}=${value}`));

/** Quotes only where they are needed: most paths are plain, and people read units. */
const maybeQuoted = (text: string): string => (/^[A-Za-z0-9_./:=@%$,+-]+$/.test(text) ? text : inQuotes(text));

/** A path that takes the rest of its line as it is, as `WorkingDirectory=` does: quotes would be part of it. */
export function bare(path: string): string {
  if (/[\u0000-\u001f\u007f]|\\$|^\s|\s$/.test(path)) {
    throw usage(`A systemd unit cannot name the folder ${JSON.stringify(path)}. Move the project to a plainer path.`);
  }
  return plainPercent(path);
}

/** A text for people, on one line. */
export const label = (text: string): string => plainPercent(text.replace(/\s+/g, ' ').replace(/\\$/, ''));
