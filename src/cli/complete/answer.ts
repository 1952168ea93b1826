/** The lines that the completion scripts read: `value`, a tab, a few words about it. */
import { existsSync, readFileSync } from 'node:fs';
import type { Command, Option } from 'commander';
import { findProject } from '../../base/home.ts';
import type { World } from '../call.ts';
import { oneLine } from '../print/sanitise.ts';

/** Instead of candidates: the shell knows better how files are completed. */
export const FILES_LINE = ':files';

/** `words`: everything after the name of the program; the last one is being written and may be empty. */
export async function answer(program: Command, words: readonly string[], world: World): Promise<readonly string[]> {
  const asked = wanted(program, words);
  if (asked.from === 'files') return [FILES_LINE];
  const all = typeof asked.from === 'string' ? await named(asked.from, asked, world) : asked.from;
  return all
    .filter(({ value }) => value.startsWith(asked.partial))
    .map(({ value, what }) => `${asked.prefix}${value}\t${oneLine(what)}`);
}

/** From the configuration as it is written; nobody is asked and nothing is started. */
async function named(
  from: 'components' | 'checks',
  { files, taken }: Wanted,
  { cwd, env }: World,
): Promise<readonly Candidate[]> {
  const project = findProject({ cwd, env, files });
  const { keptFiles } = await import('../../config/kept.ts');
  const paths = [...project.files.filter((file) => existsSync(file)), ...keptFiles(project.home)];
  const texts = paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const { checkNames, componentNames } = await import('../../config/names.ts');
  const [names, what] = from === 'checks' ? [checkNames(texts), 'check'] : [componentNames(texts), 'component'];
  return names.filter((name) => !taken.includes(name)).map((value) => ({ value, what }));
}

// What could stand at the end of a command line: read from the commands themselves, so that it cannot differ from them.

export interface Candidate {
  readonly value: string;
  /** One line, may be empty. */
  readonly what: string;
}

export interface Wanted {
  readonly from: 'files' | 'components' | 'checks' | readonly Candidate[];
  /** What the last word has in front of the value: "--output=". */
  readonly prefix: string;
  /** What there is of the value already. */
  readonly partial: string;
  /** The -f options so far. */
  readonly files: readonly string[];
  /** Operands so far: nobody wants a component twice. */
  readonly taken: readonly string[];
}

export function wanted(program: Command, words: readonly string[]): Wanted {
  const walk = new Walk(program);
  for (const word of words.slice(0, -1)) walk.pass(word);
  return walk.finish(words.at(-1) ?? '');
}

class Walk {
  readonly #program: Command;
  /** Null: none yet. */
  #command: Command | null = null;
  /** There is no such command, so nothing is known about what follows. */
  #isLost = false;
  /** The option whose value comes next. */
  #open: Option | null = null;
  #onlyOperands = false;
  #operands: string[] = [];
  #files: string[] = [];

  constructor(program: Command) {
    this.#program = program;
  }

  get #current(): Command {
    return this.#command ?? this.#program;
  }

  /** One word that is complete. */
  pass(word: string): void {
    if (this.#open) {
      this.#given(this.#open, word);
      this.#open = null;
    } else if (word === '--' && !this.#onlyOperands) this.#onlyOperands = true;
    else if (word.startsWith('-') && !this.#onlyOperands) this.#passOption(word);
    else if (this.#command !== null) this.#operands.push(word);
    else {
      this.#command = this.#find(word) ?? null;
      this.#isLost ||= this.#command === null;
    }
  }

  #passOption(word: string): void {
    const [, flag = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const option = optionsOf(this.#current).find(({ long, short }) => flag === long || flag === short);
    if (!option || !takesValue(option)) return;
    if (value === undefined) this.#open = option;
    else this.#given(option, value);
  }

  #given(option: Option, value: string): void {
    if (option.long === '--file') this.#files.push(unquoted(value));
  }

  #find(name: string): Command | undefined {
    return commandsOf(this.#program).find((one) => one.name() === name || one.aliases().includes(name));
  }

  finish(word: string): Wanted {
    const inline = /^(--[^=]+=)(.*)$/s.exec(word);
    const isValue = this.#open !== null || this.#onlyOperands || !word.startsWith('-');
    const [prefix, partial] = isValue || !inline ? ['', word] : [inline[1]!, inline[2]!];
    const from = this.#isLost ? [] : this.#source(isValue, prefix.slice(0, -1));
    return { from, prefix, partial, files: this.#files, taken: this.#operands };
  }

  /** `flag`: of "--flag=value"; else empty. */
  #source(isValue: boolean, flag: string): Wanted['from'] {
    if (this.#open) return this.#values(this.#open);
    if (isValue) return this.#operandValues();
    if (flag === '') return this.#flags();
    const option = optionsOf(this.#current).find(({ long }) => long === flag);
    return option && takesValue(option) ? this.#values(option) : [];
  }

  #flags(): readonly Candidate[] {
    return optionsOf(this.#current).map(({ long, short, description }) => ({
      value: long ?? short ?? '',
      what: description,
    }));
  }

  #operandValues(): Wanted['from'] {
    if (this.#command === null) return this.#commandNames();
    const places = this.#command.registeredArguments;
    const place = places[this.#operands.length] ?? (places.at(-1)?.variadic ? places.at(-1) : undefined);
    return place ? this.#meant(place.name()) : [];
  }

  #values({ argChoices, flags }: Option): Wanted['from'] {
    if (argChoices) return argChoices.map((value) => ({ value, what: '' }));
    return this.#meant(/[<[]([^>\]]+?)(?:\.\.\.)?[>\]]/.exec(flags)?.[1] ?? '');
  }

  /** `NAME` is a component, `FILE` a file; what is written in small letters is meant as it is. */
  #meant(place: string): Wanted['from'] {
    const parts = place.split('|');
    if (parts.includes('NAME')) return 'components';
    if (parts.includes('CHECK')) return 'checks';
    if (parts.includes('FILE')) return 'files';
    if (parts.includes('COMMAND')) return this.#commandNames();
    return parts.filter((part) => /^[a-z][a-z0-9-]*$/.test(part)).map((value) => ({ value, what: '' }));
  }

  #commandNames(): readonly Candidate[] {
    return commandsOf(this.#program).flatMap((one) =>
      [one.name(), ...one.aliases()].map((value) => ({ value, what: one.summary() || one.description() })),
    );
  }
}

const commandsOf = (program: Command): Command[] => program.createHelp().visibleCommands(program);
const optionsOf = (command: Command): Option[] => command.createHelp().visibleOptions(command);
const takesValue = (option: Option): boolean => option.required || option.optional;

/** Bash hands words over as they were typed. */
const unquoted = (word: string): string => word.replace(/^(['"])(.*)\1$/s, '$2').replace(/\\(.)/g, '$1');
