/** What is wrong with a configuration: everything at once, each with its place and what to do. */
import { AppError } from '../base/pure/errors.ts';
import { type Path, type Place, pathText } from './tree.ts';

export interface Problem {
  /** Absolute. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Dotted, '' for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** What to do, as a sentence or as a form to paste. */
  readonly hint: string | null;
}

/** Beyond this many nobody reads on, and looking for "did you mean" a hundred thousand times would take minutes. */
const ENOUGH = 200;
const MAX_LISTED = 50;

export class Problems {
  readonly #found = new Map<string, Problem>();

  /** The same sentence about the same place counts once, whichever alias led there. */
  add(at: Place, path: Path, message: string, hint: string | null = null): void {
    const key = `${at.line}:${at.column}:${message}:${at.file}`;
    if (!this.#found.has(key)) this.#found.set(key, { ...at, path: pathText(path), message, hint });
  }

  get count(): number {
    return this.#found.size;
  }
  get areMany(): boolean {
    return this.#found.size > ENOUGH;
  }

  /** By file in the order given (others, such as .env, after them), then line and column. */
  sorted(files: readonly string[]): readonly Problem[] {
    const rank = (file: string) => (files.includes(file) ? files.indexOf(file) : files.length);
    return [...this.#found.values()].sort(
      (a, b) => rank(a.file) - rank(b.file) || a.line - b.line || a.column - b.column,
    );
  }
}

/** What is read, and how it can be tried. */
export interface ConfigKind {
  readonly what: string;
  readonly check: string;
}

const CONFIGURATION: ConfigKind = { what: 'configuration', check: 'keepwell validate' };

/** Thrown for every configuration that cannot be used. `cwd` only shortens the file names in the message. */
export class ConfigError extends AppError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], cwd: string | null = null, kind = CONFIGURATION) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    const items = problems.map(({ file, line, column, path, message, hint }) => ({
      ...{ file, line, column, path, message, hint },
    }));
    super('CONFIG_INVALID', { ...kind, count, listed: listProblems(problems, cwd), problems: items });
    this.problems = problems;
  }
}

function listProblems(problems: readonly Problem[], cwd: string | null): string {
  const more = problems.length - MAX_LISTED;
  const lines = problems.slice(0, MAX_LISTED).map((problem) => problemText(problem, cwd));
  return [...lines, ...(more > 0 ? [`… and ${more} more.`] : [])].join('\n');
}

/** `keepwell.yaml:4:7 components.api.restart: message`, and the hint on a line of its own. */
export function problemText({ file, line, column, path, message, hint }: Problem, cwd: string | null): string {
  const inside = cwd !== null && file.startsWith(cwd === '/' ? '/' : `${cwd}/`);
  const shown = inside ? file.slice(cwd === '/' ? 1 : cwd.length + 1) : file;
  const where = `${shown}:${line}:${column}${path === '' ? '' : ` ${path}`}`;
  return `${where}: ${message}${hint === null ? '' : `\n    ${hint.replaceAll('\n', '\n    ')}`}`;
}
