/**
 * What the pages, the examples and our own messages print is pasted and typed. A configuration must be whole, or its first line must say
 * where it belongs; a command must have the options with which it is shown.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { World } from '../../src/cli/call.ts';
import { COMMANDS } from '../../src/cli/program.ts';
import { programWith } from '../../src/cli/program-frame.ts';
import { loadCampaignFromText } from '../../src/config/campaign-load.ts';
import { hostsFromText } from '../../src/fleet/hosts-file.ts';
import { openapi, problemsWith } from '../support/openapi.ts';
import { load } from './config/support.ts';

const pagesIn = (dir: string): readonly string[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${dir}/${name}`);
/** Every file below a folder. */
const filesIn = (dir: string): readonly string[] =>
  readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`);
const EXAMPLES = filesIn('examples');
const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...['docs', 'docs/guide', 'docs/reference', 'docs/decisions'].flatMap(pagesIn),
  ...EXAMPLES.filter((file) => file.endsWith('.md')),
];

interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  /** What stands behind the language: "schema=Status". */
  readonly more: string;
  readonly text: string;
}

const BLOCKS: readonly Block[] = PAGES.flatMap((page) => {
  const source = readFileSync(page, 'utf8');
  return [...source.matchAll(/^```(\S*)([^\n]*)\n(.*?)^```$/gms)].map((match) => {
    const [, language = '', more = '', text = ''] = match;
    return { page, line: source.slice(0, match.index).split('\n').length, language, more, text };
  });
});

const indented = (text: string, spaces: number): string => text.replaceAll(/^(?=.)/gm, ' '.repeat(spaces));
const PROCESS = 'process: { command: [sleep, "1000"] }';

/** The keys of one component, beside those that they name. */
function component(keys: string): string {
  const isWhole = /^(?:process|external|container|compose):/m.test(keys);
  const needed = [...keys.matchAll(/(\w+): (?:started|ready|completed)/g)].map(
    ([, name]) => `  ${name}: { ${PROCESS}, restart: { policy: on-failure } }\n`,
  );
  return `components:\n${needed.join('')}  api:\n${indented(isWhole ? keys : `${PROCESS}\n${keys}`, 4)}`;
}

const agentType = (keys: string): string => `agents:\n  types:\n    architect:\n${indented(keys, 6)}`;
/** Variables that a sample takes from the environment. */
const variablesIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name!, `https://example.com/${name}`]));
const loads = (text: string, over: readonly string[] = []): void => {
  load(text, { env: variablesIn(text), over });
};

/** What the first line of a sample may say, and what is then done with it. */
const PLACES: Readonly<Record<string, (text: string, before: string) => void>> = {
  '# in a component': (text) => loads(component(text)),
  '# under components': (text) => loads(`components:\n${indented(text, 2)}`),
  '# beside components': (text) => loads(`${text}components: { api: { ${PROCESS} } }\n`),
  '# in a type of agents': (text) => loads(agentType(text)),
  '# in a type of agents: refused': (text) => expect(() => loads(agentType(text))).toThrow(),
  '# keepwell.yaml': (text) => loads(text),
  '# prod.yaml, over the one above': (text, before) => loads(before, [text]),
  '# yaml-language-server: $schema=./keepwell.schema.json': (text) => loads(text),
  '# night.yaml': (text) => {
    loadCampaignFromText({ path: '/project/night.yaml', text }, { env: {}, cwd: '/project' });
  },
  '# hosts.yaml': (text) => hostsFromText('/home/me/.config/keepwell/hosts.yaml', text),
  // Files of other programs.
  '# prometheus.yml': (text) => parseYaml(text),
  '# alerts.yml': (text) => parseYaml(text),
  '# OpenTelemetry Collector': (text) => parseYaml(text),
};

describe('a sample in YAML is a whole configuration, or says in its first line where it belongs', () => {
  const samples = BLOCKS.filter(({ language }) => language === 'yaml');
  test.each(samples)('$page:$line', ({ page, line, text }) => {
    const [first = ''] = text.split('\n');
    if (!first.startsWith('#')) return loads(text);
    expect(Object.keys(PLACES)).toContain(first);
    const before = samples.findLast((block) => block.page === page && block.line < line);
    return PLACES[first]!(text, before?.text ?? '');
  });
});

/** What a file of an example is, by its name, and what is then done with it. */
const EXAMPLE_FILES: Readonly<Record<string, (text: string) => void>> = {
  'keepwell.yaml': (text) => loads(text),
  'cluster.yaml': (text) => loads(`${text}\ncomponents: { api: { container: { image: app:1 } } }\n`),
  'campaign.yaml': (text) => PLACES['# night.yaml']!(text, ''),
  'hosts.yaml': (text) => PLACES['# hosts.yaml']!(text, ''),
  // Files of other programs.
  'docker-compose.yml': (text) => parseYaml(text),
  'prometheus.yml': (text) => parseYaml(text),
  'alerts.yml': (text) => parseYaml(text),
};

describe('a file in YAML of an example is what its name says', () => {
  test.each(EXAMPLES.filter((file) => /\.ya?ml$/.test(file)))('%s', (file) => {
    const name = file.split('/').at(-1)!;
    expect(Object.keys(EXAMPLE_FILES)).toContain(name);
    EXAMPLE_FILES[name]!(readFileSync(file, 'utf8'));
  });
});

describe('a sample in JSON is what the document of the API says', () => {
  const samples = BLOCKS.filter(({ language }) => language === 'json');
  test.each(samples)('$page:$line', (sample) => {
    const value = JSON.parse(sample.text) as object;
    const [, name, adds] = /schema=(\w+)( adds)?$/.exec(sample.more) ?? [];
    if (name === undefined) return;
    // `why` is printed as what it has beside a crash.
    const before = adds ? (JSON.parse(samples[samples.indexOf(sample) - 1]!.text) as { crashes: object[] }) : null;
    expect(problemsWith(openapi.components.schemas[name], { ...before?.crashes[0], ...value })).toEqual([]);
  });
});

const SILENT = { write: () => {}, isTty: false, columns: 80, rows: 24 };
const WORLD: World = {
  cwd: '/',
  env: {},
  uid: 0,
  entry: '',
  version: '0.1.0',
  node: '20.19.0',
  execPath: '/usr/bin/node',
  platform: 'linux',
  out: SILENT,
  err: SILENT,
  interrupt: () => new AbortController().signal,
  inIsTty: false,
  interruptAgain: () => new AbortController().signal,
};

const KNOWN = COMMANDS.map(({ usage }) => usage.split(' ')[0]);

/** Throws when it is not. `--help` goes with everything; a command that is only mentioned by its name lacks its arguments. */
async function isThere(all: readonly string[]): Promise<void> {
  const words = all.filter((word) => word !== '--help');
  const [first = ''] = words;
  if (words.length === 1) expect(KNOWN).toContain(first);
  else if (words.length > 1) await read(/^-[fH]$/.test(first) && words.length === 2 ? [...words, 'status'] : words);
}

/** Reads the words as the program does, and does nothing. Throws when there is no such command, action or option. */
async function read(words: readonly string[]): Promise<void> {
  const host = { world: WORLD, began: () => {}, ended: () => {} };
  const idle = COMMANDS.map((definition) => ({
    ...definition,
    handler: (_session: unknown, [word]: readonly string[]) => {
      const actions = (definition.actions ?? []).map(([usage]) => usage.split(' ')[0]!);
      if (word !== undefined && actions.length > 0) expect(actions).toContain(word);
      return Promise.resolve(0);
    },
  }));
  await programWith(idle, host).parseAsync([...words], { from: 'user' });
}

const OPERATOR = /^(?:[|;&]+|\d?>+&?\d?|<+|\(|\))$/;
const WORD = /"(?:\\.|[^"\\])*"|'[^']*'|\d?>+&?\d?|[|;&<()]+|(?:\\.|[^\s"'|;&<>()\\])+/g;
const unquoted = (word: string): string => (/^(["']).*\1$/s.test(word) ? word.slice(1, -1) : word);
/** Words that stand before a command, and belong to the shell. */
const isBefore = (word: string): boolean =>
  /^(?:sudo|npx|exec|CMD|\w+=.*)$/.test(word) || /^[\w-]+$/.test(word) === false;

/** Every call of keepwell in a line of shell, as words. */
function callsIn(line: string): readonly (readonly string[])[] {
  const flat = line.replaceAll(/"?\$\(/g, ' ; ').replace(/(^|\s)#.*$/, '');
  const commands: string[][] = [[]];
  let isTarget = false;
  for (const [word] of flat.matchAll(WORD)) {
    if (OPERATOR.test(word)) {
      isTarget = /[<>]/.test(word) && !/&\d/.test(word);
      if (!/[<>]/.test(word)) commands.push([]);
    } else if (isTarget) isTarget = false;
    else commands.at(-1)!.push(unquoted(word));
  }
  return commands.flatMap((words) => {
    const at = words.indexOf('keepwell');
    return at >= 0 && words.slice(0, at).every(isBefore) ? [words.slice(at + 1)] : [];
  });
}

/** In samples of a dialogue what is typed stands behind "$ ". */
const typedIn = ({ language, text }: Block): readonly string[] => {
  if (!['sh', 'console', 'text', 'dockerfile', ''].includes(language)) return [];
  const lines = text.split('\n');
  const isDialogue = lines.some((line) => line.startsWith('$ '));
  if (isDialogue) return lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  return language === 'text' ? [] : lines;
};

/** In a sentence: `keepwell logs -f`. What is left out or a choice is not a call. */
const mentionedIn = (page: string): readonly string[] =>
  [
    ...readFileSync(page, 'utf8')
      .replaceAll(/^```.*?^```$/gms, '')
      .matchAll(/`(keepwell [^`]+)`/g),
  ]
    .map(([, code]) => code!.replaceAll(/\s+/g, ' '))
    .filter((code) => !/[…|[]/.test(code));

const CALLS = PAGES.flatMap((page) => {
  const typed = BLOCKS.filter((block) => block.page === page).flatMap((block) => typedIn(block));
  const calls = [...typed, ...mentionedIn(page)].flatMap(callsIn);
  return [...new Map(calls.map((words) => [words.join(' '), words])).values()].map((words) => ({ page, words }));
});

/** In a message that we print ourselves: "keepwell why {name}". What it is filled in with stands for a name. */
const MESSAGES = filesIn('src')
  .filter((file) => file.endsWith('.ts') && !file.endsWith('/foreign-words.ts'))
  .flatMap((page) => {
    const source = readFileSync(page, 'utf8').replaceAll(/\$?\{[^{}]*\}/g, 'NAME');
    const calls = [...source.matchAll(/"keepwell ([^"\n]+)"/g)].map(([, words]) => words!.trim().split(/\s+/));
    // Where the command itself is filled in, and what the guardian says of itself.
    const isCall = ([first = '', ...rest]: readonly string[]) =>
      !/^(?:NAME|COMMAND|guardian:)$/.test(first) && !rest.includes('--NAME');
    return calls.filter(isCall).map((words) => ({ page, words }));
  });

test.each(MESSAGES)('$page: "keepwell $words"', ({ words }) => isThere(words));

test('commands are found in the pages', () => {
  expect(callsIn('kill -9 $(keepwell status -o json | node -p x)  # ends it')).toEqual([['status', '-o', 'json']]);
  expect(callsIn(`cd x && keepwell health -o text > /tmp/h 2>&1 || mail -s "a b"`)).toEqual([['health', '-o', 'text']]);
  expect(callsIn('rm -r keepwell')).toEqual([]);
  expect(CALLS.length).toBeGreaterThan(250);
  expect(MESSAGES.length).toBeGreaterThan(100);
});

test.each(CALLS)('$page: keepwell $words', ({ words }) => isThere(words));
