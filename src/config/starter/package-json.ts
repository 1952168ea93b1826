/** `package.json`: which of its scripts are programs that run for long. */
import { inWords, printable, quoted, untransportable } from '../text.ts';
import { readLine } from './command-line.ts';
import type { Draft, Folder, StarterFindings } from './draft.ts';

const FILE = 'package.json';
const MAX_SHOWN = 12;

/** Lock file → who wrote it. */
const LOCKS: readonly (readonly [file: string, manager: string])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

export function fromPackageJson(folder: Folder): StarterFindings | null {
  if (!folder.has(FILE)) return null;
  const manifest = parse(folder.read(FILE));
  if (manifest === null) return { file: FILE, drafts: [], remarks: ['It is not valid JSON.'] };
  const scripts = scriptsOf(manifest);
  const { chosen, remarks } = chooseScripts([...scripts.keys()], scripts);
  const manager = managerOf(manifest, folder);
  const drafts = chosen.map(({ script, name, why }): Draft => {
    const text = scripts.get(script)!;
    const own = ownCommand(script, scripts);
    const through = `${manager} run ${script}`;
    return {
      name,
      command: own?.command ?? { argv: [manager, 'run', script] },
      env: own?.env ?? {},
      why: [
        `${FILE}, script ${quoted(script)}: ${shown(text)}`,
        ...(why === null ? [] : [why]),
        ...(own ? [`Without ${quoted(through)} in between, so that signals and exit codes arrive as they are.`] : []),
      ],
    };
  });
  if (drafts.length === 0 && folder.has('server.js')) {
    const why = [`${FILE} has no script "start", so this is what "npm start" would run.`];
    drafts.push({ name: 'app', command: { argv: ['node', 'server.js'] }, why });
  }
  return { file: FILE, drafts, remarks };
}

function parse(text: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse((text ?? '').replace(/^\ufeff/, ''));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function scriptsOf({ scripts }: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const entries = typeof scripts === 'object' && scripts !== null ? Object.entries(scripts) : [];
  return new Map(
    entries.filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && entry[1].trim() !== '' && untransportable(entry[0]) === null,
    ),
  );
}

function managerOf({ packageManager }: Readonly<Record<string, unknown>>, folder: Folder): string {
  const named = typeof packageManager === 'string' ? /^(npm|pnpm|yarn|bun)@/.exec(packageManager)?.[1] : undefined;
  return named ?? LOCKS.find(([file]) => folder.has(file))?.[1] ?? 'npm';
}

/** A script that only starts node needs nobody to start it, unless others are to run before or after it. */
function ownCommand(script: string, scripts: ReadonlyMap<string, string>) {
  if (scripts.has(`pre${script}`) || scripts.has(`post${script}`)) return null;
  const line = readLine(scripts.get(script)!);
  return line && 'argv' in line.command && line.command.argv[0] === 'node' ? line : null;
}

const shown = (text: string): string => {
  const words = printable(text.trim()).split(' ');
  return words.length <= MAX_SHOWN ? words.join(' ') : `${words.slice(0, MAX_SHOWN).join(' ')} …`;
};

// Judgement about the scripts of a package.json: which of them are services, and what to call these.

export interface Choice {
  readonly script: string;
  readonly name: string;
  /** Null: its name says it all. */
  readonly why: string | null;
}

export interface Choices {
  readonly chosen: readonly Choice[];
  readonly remarks: readonly string[];
}

/** The program itself, under its usual names; the first one that is there. */
const MAIN = ['start', 'serve', 'server'];
/** The same, made for development: taken when there is nothing else. */
const DEVELOPMENT = ['start:prod', 'start:production', 'start:dev', 'dev', 'develop', 'dev:server'];
/** Programs that run beside it. */
const BESIDE = /^(?:web|api|gateway|worker|workers|queue|jobs|scheduler|cron|consumer|consumers|listener|bot)$/;
/** "start:debug" is "start" in another way, and not a second program. */
const MANNERS =
  /^(?:dev|develop|development|debug|inspect|watch|hot|fast|local|prod|production|staging|test|tests|e2e|ci|docker|build|clean|only|all|windows|win|mac|linux|once|help)$/;
/** Starts several others at the same time. */
const RUNNER = /\b(?:concurrently|npm-run-all|run-p|run-pty|turbo|lerna|foreman|nf start|pm2)\b/;

const PARTS = /^([a-z0-9]+)(?:[:._-](.+))?$/i;

export function chooseScripts(names: readonly string[], texts: ReadonlyMap<string, string>): Choices {
  const main = MAIN.find((name) => names.includes(name));
  const beside = names.flatMap((script) => besideChoice(script));
  const parts = beside.filter(({ script }) => script.startsWith('start') || script.startsWith('serve'));
  const runsParts = main !== undefined && parts.length > 0 && RUNNER.test(texts.get(main) ?? '');
  const own = main === undefined || runsParts ? [] : [{ script: main, name: 'app', why: null }];
  const chosen = [...own, ...beside];
  if (chosen.length === 0) chosen.push(...development(names));
  const runner = runsParts
    ? [`${quoted(main)} was left out: it starts ${listed(parts)} itself, and Keepwell does that.`]
    : [];
  const left = names.filter((name) => name !== main && !chosen.some(({ script }) => script === name));
  return { chosen, remarks: [...runner, ...notTaken(left, chosen.length > 0)] };
}

/** "worker", "worker:mail", "start:api", "start-worker": but not "start:debug", nor "test:api". */
function besideChoice(script: string): Choice[] {
  const [, base = '', rest] = PARTS.exec(script) ?? [];
  if (rest !== undefined && MANNERS.test(rest)) return [];
  if (BESIDE.test(base)) return [{ script, name: script, why: null }];
  return MAIN.includes(base) && rest !== undefined ? [{ script, name: rest, why: null }] : [];
}

function development(names: readonly string[]): Choice[] {
  const script = DEVELOPMENT.find((name) => names.includes(name));
  if (script === undefined) return [];
  const isProduction = script.startsWith('start:prod');
  const why = isProduction ? null : 'Made for development, but there is no "start".';
  return [{ script, name: 'app', why }];
}

function notTaken(left: readonly string[], any: boolean): string[] {
  if (left.length === 0) return any ? [] : ['It has no scripts.'];
  const shown = left.slice(0, MAX_NAMED).map((name) => quoted(name));
  const more = left.length > MAX_NAMED ? [`${left.length - MAX_NAMED} more`] : [];
  return [`Scripts that do not look like a service of their own: ${inWords([...shown, ...more])}.`];
}

const MAX_NAMED = 10;

const listed = (choices: readonly Choice[]): string => inWords(choices.map(({ script }) => quoted(script)));
