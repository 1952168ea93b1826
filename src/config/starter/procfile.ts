/** `Procfile`: one line per process, as Heroku, Foreman and Overmind read it. */
import { parseEnvFile } from '../env-file.ts';
import { inWords, quoted } from '../text.ts';
import { readLine } from './command-line.ts';
import type { Draft, Folder, StarterFindings } from './draft.ts';

const FILES = ['Procfile', 'Procfile.dev'];
const LINE = /^\s*([^\s:#][^:]*?)\s*:\s*(\S.*?)\s*$/;
const COMMENT = /^\s*(?:#|$)/;

/** Runs once before the others. */
const JOBS = new Set(['release']);
/** Talks to somebody at a keyboard. */
const INTERACTIVE = /^(?:console|shell|repl|bash|sh|psql)$/i;

/** What Foreman gives to the first process, and how far apart it puts the next ones. */
const FIRST_PORT = 5000;
const PORT_STEP = 100;
const USES_PORT = /\$(?:PORT\b|\{PORT\b)/;

export function fromProcfile(folder: Folder): StarterFindings | null {
  const file = FILES.find((name) => folder.has(name));
  if (file === undefined) return null;
  const text = folder.read(file);
  if (text === null) return { file, drafts: [], remarks: ['It cannot be read as text.'] };
  const { drafts, leftOut, remarks } = readProcfile(file, text, folder);
  const lines = leftOut.map(({ line, what, isInteractive }) =>
    isInteractive ? `${what} was left out: ${INTERACTIVE_WHY}.` : `Line ${line} was not understood: ${what}.`,
  );
  return { file, drafts, remarks: [...remarks, ...lines] };
}

export const INTERACTIVE_WHY = 'it needs somebody at a keyboard';

export interface ProcfileFindings {
  readonly drafts: readonly Draft[];
  /** `what`: the name or the line, quoted. */
  readonly leftOut: readonly { readonly line: number; readonly what: string; readonly isInteractive: boolean }[];
  /** Sentences about the whole. */
  readonly remarks: readonly string[];
}

/** `folder`: for the `.env` beside it. */
export function readProcfile(file: string, text: string, folder: Folder): ProcfileFindings {
  const environment = readDotenv(folder);
  const drafts: Draft[] = [];
  const leftOut: ProcfileFindings['leftOut'][number][] = [];
  for (const [index, content] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (COMMENT.test(content)) continue;
    const line = index + 1;
    const [, name = '', command = ''] = LINE.exec(content) ?? [];
    const draft = readDraft(name, command, environment, drafts.length);
    if (draft === null) leftOut.push({ line, what: quoted(content.trim()), isInteractive: false });
    else if (INTERACTIVE.test(name)) leftOut.push({ line, what: quoted(name), isInteractive: true });
    else drafts.push({ ...draft, why: [`${file}, line ${line}: ${name}`, ...draft.why] });
  }
  return { drafts, leftOut, remarks: environment.problem === null ? [] : [environment.problem] };
}

/** `position`: how many stand before it. Null: not understood. */
function readDraft(name: string, command: string, environment: Dotenv, position: number): Draft | null {
  const read = readLine(command);
  if (read === null) return null;
  const needsPort = USES_PORT.test(command) && !environment.names.has('PORT');
  const isJob = JOBS.has(name);
  return {
    name,
    command: read.command,
    env: { ...(needsPort ? { PORT: String(FIRST_PORT + PORT_STEP * position) } : {}), ...read.env },
    ...(environment.file === null ? {} : { envFile: environment.file }),
    isJob,
    why: [
      ...(needsPort ? ['PORT is what Foreman would give it.'] : []),
      ...(isJob ? ['A job: it runs once, and the others wait until it is done.'] : []),
    ],
  };
}

interface Dotenv {
  readonly file: string | null;
  readonly names: ReadonlySet<string>;
  readonly problem: string | null;
}

/** Those tools hand `.env` to every process. One that Keepwell cannot read would keep all of them from starting. */
function readDotenv(folder: Folder): Dotenv {
  const none = { file: null, names: new Set<string>() };
  if (!folder.has('.env')) return { ...none, problem: null };
  const text = folder.read('.env');
  if (text === null) return { ...none, problem: '.env is not handed to the processes: it cannot be read as text.' };
  const { entries, problems } = parseEnvFile(text);
  if (problems.length === 0) return { file: '.env', names: new Set(entries.keys()), problem: null };
  const lines = [...new Set(problems.map(({ line }) => String(line)))].slice(0, 5);
  return {
    ...none,
    problem: `.env is not handed to the processes: Keepwell does not understand line ${inWords(lines)} of it.`,
  };
}
