/** `package.json`: which of its scripts are programs that run for long. */
import { printable, quoted, untransportable } from '../text.ts';
import { readLine } from './command-line.ts';
import type { Draft, Folder, Found } from './draft.ts';
import { chooseScripts } from './scripts.ts';

const FILE = 'package.json';
const MAX_SHOWN = 12;

/** Lock file → who wrote it. */
const LOCKS: readonly (readonly [file: string, manager: string])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

export function fromPackageJson(folder: Folder): Found | null {
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
