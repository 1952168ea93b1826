/** Files of other tools as a keepwell.yaml with comments, and a list of what could not be carried over. Pure: texts in, texts out. */
import { isAbsolute, join } from 'node:path';
import { AppError } from '../../base/pure/errors.ts';
import { loadConfigFromTexts } from '../load.ts';
import { ConfigError, Problems } from '../problem.ts';
import { nameFrom } from '../readers.ts';
import { readCompose } from '../starter/compose.ts';
import { type Draft, type Folder, withoutMarks } from '../starter/draft.ts';
import { INTERACTIVE_WHY, readProcfile } from '../starter/procfile.ts';
import { type Named, named, starterText } from '../starter/starter.ts';
import { shorten } from '../text.ts';
import { FORMATS, type ImportFindings, type ImportFormat, type Loss, lossText, type Source } from './findings.ts';
import { fromPm2 } from './pm2.ts';
import { fromProcessCompose } from './process-compose.ts';
import { fromSupervisord, type IniFindings } from './supervisord.ts';
import { fromSystemd } from './systemd.ts';

export { FORMATS, type ImportFormat, type Loss, lossText };

/** A file, and where it lies. */
export interface ImportSource extends Source {
  /** Its folder, absolute. */
  readonly dir: string;
  /** Its own name. */
  readonly base: string;
  /** The program that `text` came out of: a JavaScript file, for the lines of what is lost. */
  readonly program?: string;
}

export interface ImportRequest {
  readonly format: ImportFormat;
  /** At least one; further ones are those that it includes, or units beside it. */
  readonly sources: readonly ImportSource[];
  /** From the folder of the new file to that of the first source; '': the same. */
  readonly way: string;
  /** The folder of the first source, for the `.env` beside it. */
  readonly folder: Folder;
  /** What to call the project. */
  readonly project: string;
}

export interface Imported {
  /** A whole keepwell.yaml, which the loader takes. */
  readonly text: string;
  readonly components: readonly string[];
  readonly lost: readonly Loss[];
}

const NAMES: Readonly<Record<ImportFormat, string>> = {
  pm2: 'PM2 file',
  supervisord: 'supervisord file',
  systemd: 'unit',
  'process-compose': 'process-compose file',
  procfile: 'Procfile',
  compose: 'Compose file',
};

/** Throws CONFIG_INVALID with every line that cannot be read, and NOTHING_TO_IMPORT. */
export function importSources(request: ImportRequest): Imported {
  const { format, sources, project } = request;
  const [first] = sources;
  const found = read(request);
  const apart = withoutCircles(found.drafts, first!.file);
  const { drafts, refused } = sound(relocated(apart.drafts, request), first!.file, project);
  const lost = inOrder([...found.lost, ...apart.lost, ...refused], sources);
  if (drafts.length === 0)
    throw new AppError('NOTHING_TO_IMPORT', {
      file: first!.file,
      kind: NAMES[format],
      problem: lost[0] === undefined ? '' : ` ${lossText(lost[0])}`,
    });
  return { text: textOf(drafts, lost, request), components: drafts.map(({ key }) => key), lost };
}

/** As they stand in the files. */
function inOrder(lost: readonly Loss[], sources: readonly Source[]): readonly Loss[] {
  const rank = ({ file }: Loss): number => sources.findIndex((source) => source.file === file);
  return lost.toSorted((one, other) => rank(one) - rank(other) || one.line - other.line);
}

function read(request: ImportRequest): ImportFindings {
  const { format, sources } = request;
  const [source] = sources;
  const problems = new Problems();
  const orRefuse = (found: ImportFindings | null): ImportFindings => {
    if (problems.count > 0 || found === null) throw refusal(problems, request);
    return found;
  };
  switch (format) {
    case 'pm2': {
      const found = orRefuse(fromPm2(source!, problems));
      const { program } = source!;
      return program === undefined ? found : { ...found, ...placed(found, program, source!.file) };
    }
    case 'process-compose':
      return orRefuse(fromProcessCompose(source!, problems));
    case 'supervisord':
      return unbroken(fromSupervisord(sources.map((one) => ({ ...one, here: one.dir }))), problems, request);
    case 'systemd':
      return unbroken(fromSystemd(sources.map((one) => ({ ...one, unit: one.base }))), problems, request);
    case 'procfile': {
      const { drafts, leftOut, remarks } = readProcfile(source!.file, withoutMarks(source!.text), request.folder);
      const lose = (line: number, what: string, message: string): Loss => ({
        ...{ file: source!.file, line, component: null, what, message },
      });
      const lines = leftOut.map(({ line, what, isInteractive }) =>
        lose(line, what, isInteractive ? `${INTERACTIVE_WHY}, so it was left out.` : 'this line was not understood.'),
      );
      return { drafts, lost: [...lines, ...remarks.map((remark) => lose(1, '.env', remark))] };
    }
    case 'compose': {
      const { drafts, left } = readCompose(source!.file, source!.text, problems);
      const lost = left.map(
        ({ name, line }): Loss => ({
          ...{ file: source!.file, line, component: null, what: shorten(name) },
          message:
            'it was left out: Compose starts it only when its profile is asked for, or its name cannot be used here.',
        }),
      );
      return orRefuse({ drafts: drafts.map((draft) => composed(draft, source!.base)), lost });
    }
    default:
      throw new Error(`no such format: ${format satisfies never}`);
  }
}

/** In the configuration stands the name of the file, not what people were told it is called. */
const composed = (draft: Draft, base: string): Draft =>
  'compose' in draft.command ? { ...draft, command: { compose: { ...draft.command.compose, file: base } } } : draft;

function unbroken(found: IniFindings, problems: Problems, request: ImportRequest): ImportFindings {
  for (const { file, line, message } of found.problems) problems.add({ file, line, column: 1 }, [], message);
  if (problems.count > 0) throw refusal(problems, request);
  return found;
}

function refusal(problems: Problems, { format, sources }: ImportRequest): ConfigError {
  const files = sources.map(({ file }) => file);
  return new ConfigError(problems.sorted(files), null, {
    what: NAMES[format],
    check: `keepwell import ${format} --stdout`,
  });
}

/** Lines of the JSON that a program printed say nothing: those of the program are looked for by the name and the key. */
function placed({ drafts, lost }: ImportFindings, program: string, file: string): ImportFindings {
  const lines = program.split(/\r?\n/);
  const find = (word: string, from: number): number => {
    const pattern = new RegExp(`(?:^|[^\\w$])["'\`]?${word.replace(/[^\w-]/g, '\\$&')}["'\`]?(?![\\w$])`);
    return lines.findIndex((line, index) => index >= from && pattern.test(line));
  };
  const lineFor = (component: string | null, what: string): number => {
    const named = component === null ? 0 : Math.max(0, find(component, 0));
    const key = what.split('.').at(-1)!;
    const behind = find(key, named);
    const found = behind < 0 ? find(key, 0) : behind;
    return (found < 0 ? named : found) + 1;
  };
  return {
    drafts: drafts.map((draft) => ({
      ...draft,
      why: [`${file}, line ${lineFor(draft.name, draft.name)}: ${draft.name}`],
    })),
    lost: lost.map((loss) => ({ ...loss, line: lineFor(loss.component, loss.what) })),
  };
}

/** Paths of a file in another folder are relative to that one, and so is what it starts. */
function relocated(drafts: readonly Draft[], { format, way }: ImportRequest): readonly Draft[] {
  const clean = drafts.map((draft) => (draft.cwd === '.' || draft.cwd === './' ? without(draft) : draft));
  if (way === '' || format === 'supervisord' || format === 'systemd') return clean;
  const moved = (path: string): string => (isAbsolute(path) || path.startsWith('\ue000') ? path : join(way, path));
  return clean.map((draft) => {
    if ('compose' in draft.command)
      return { ...draft, command: { compose: { ...draft.command.compose, file: moved(draft.command.compose.file) } } };
    const files = draft.envFile;
    const envFile = files === undefined ? {} : { envFile: typeof files === 'string' ? moved(files) : files.map(moved) };
    return { ...draft, ...envFile, cwd: moved(draft.cwd ?? '.') };
  });
}

const without = ({ cwd: _cwd, ...draft }: Draft): Draft => draft;

/** Who needs whom must not go in a circle; what would close one is left out, and said. */
function withoutCircles(drafts: readonly Draft[], file: string): ImportFindings {
  const lost: Loss[] = [];
  const kept = new Map(drafts.map(({ name }) => [name, new Set<string>()]));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(kept.get(from) ?? [])].some((next) => reaches(next, to, seen));
  };
  const result = drafts.map((draft) => {
    if (draft.needs === undefined) return draft;
    const needs = Object.entries(draft.needs).filter(([other]) => {
      const closes = reaches(other, draft.name);
      if (closes) {
        const message = `${other} needs it, too: a circle cannot be started.`;
        lost.push({ file, line: 1, ...draft.at, component: draft.name, what: `depends_on.${shorten(other)}`, message });
      } else kept.get(draft.name)?.add(other);
      return !closes;
    });
    return { ...draft, needs: Object.fromEntries(needs) };
  });
  return { drafts: result, lost };
}

/** Only what the loader takes is written: a value that no program could receive loses its component, never the whole file. */
function sound(
  drafts: readonly Draft[],
  file: string,
  project: string,
): { readonly drafts: readonly Named[]; readonly refused: readonly Loss[] } {
  const all = named(drafts);
  if (problemIn(all, project) === null) return { drafts: all, refused: [] };
  const refused: Loss[] = [];
  const good = all.filter((one) => {
    const problem = problemIn([{ ...one, needs: {} }], project);
    if (problem !== null) {
      const message = `it was left out: ${problem}.`;
      refused.push({ file, line: 1, ...one.at, component: one.key, what: 'component', message });
    }
    return problem === null;
  });
  const problem = good.length === 0 ? null : problemIn(good, project);
  if (problem !== null)
    throw new AppError('INTERNAL', { problem: `the imported configuration is not valid: ${problem}` });
  return { drafts: good, refused };
}

function problemIn(components: readonly Named[], project: string): string | null {
  const text = starterText({ project: nameFrom(project) || 'project', components, intro: [], notes: [] });
  const variables = [...text.matchAll(/(?<!\$)\$\{(\w+)\}/g)].map(([, name]) => [name!, 'x']);
  try {
    loadConfigFromTexts({
      files: [{ path: '/keepwell.yaml', text }],
      dotenv: null,
      env: Object.fromEntries(variables),
    });
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return `${error.problems[0]!.path}: ${error.problems[0]!.message}`;
    throw error;
  }
}

function textOf(
  components: readonly Named[],
  lost: readonly Loss[],
  { format, sources, project }: ImportRequest,
): string {
  const files = sources
    .map(({ file }) => file)
    .slice(0, 5)
    .join(', ');
  return starterText({
    project: nameFrom(project) || 'project',
    components,
    intro: [
      `What Keepwell keeps running here. Written by "keepwell import ${format}" from ${files}.`,
      'Check it with "keepwell validate", start it with "keepwell up", look with "keepwell status".',
    ],
    notes: lost.length === 0 ? [] : ['Not carried over:', ...lost.map((loss) => `  ${lossText(loss)}`)],
  });
}
