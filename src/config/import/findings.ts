/** What an importer makes of a file of another tool: components, and everything it could not carry over, with its line. */
import type { Draft } from '../starter/draft.ts';
import { printable, shorten } from '../text.ts';

export const FORMATS = ['pm2', 'supervisord', 'systemd', 'process-compose', 'procfile', 'compose'] as const;
export type ImportFormat = (typeof FORMATS)[number];

/** A file as it was read. */
export interface Source {
  /** As people are told. */
  readonly file: string;
  readonly text: string;
}

/** Something that stands in the file and that Keepwell does not do, or does otherwise. */
export interface Loss {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Whose it is; null: of the whole file. */
  readonly component: string | null;
  /** The key or section. */
  readonly what: string;
  /** What happens instead, as a sentence. */
  readonly message: string;
}

export interface ImportFindings {
  readonly drafts: readonly Draft[];
  readonly lost: readonly Loss[];
}

/** Collects losses of one file; of a thousand equal ones nobody reads more than the first. */
export class Losses {
  readonly #file: string;
  readonly #all = new Map<string, Loss>();

  constructor(file: string) {
    this.#file = file;
  }

  add(line: number, component: string | null, what: string, message: string): void {
    const key = `${line}:${component}:${what}:${message}`;
    const shown = component === null ? null : printable(shorten(component));
    const loss = { file: this.#file, line, component: shown, what: printable(shorten(what)), message };
    if (!this.#all.has(key)) this.#all.set(key, loss);
  }

  get all(): readonly Loss[] {
    return [...this.#all.values()];
  }
}

/** "ecosystem.json:12: api: cron_restart: Keepwell does not …" */
export const lossText = ({ file, line, component, what, message }: Loss): string =>
  [`${file}:${line}`, ...(component === null ? [] : [component]), what, message].join(': ');

/** What is said of logs: each tool has its own files for them. */
export const OWN_LOGS = 'Keepwell keeps the output by itself, within bounds: see "keepwell logs".';
export const NO_COUNTERPART = 'has no counterpart in Keepwell.';

/** A variable of the environment that a program could be given. Keepwell sets KEEPWELL_RUN itself. */
export const isEnvName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== 'KEEPWELL_RUN';
