/** A first configuration from what lies in a folder. Pure: the folder is handed in, the text is handed back. */
import { nameFrom } from '../readers.ts';
import { printable } from '../text.ts';
import { flowList, flowText } from '../words/argv.ts';
import { composeText, fromCompose } from './compose.ts';
import { type Command, type Draft, type Folder, literal, type Need, type StarterFindings } from './draft.ts';
import { fromPm2, fromProcessCompose, fromSupervisord } from './neighbours.ts';
import { fromPackageJson } from './package-json.ts';
import { fromProcfile } from './procfile.ts';
import { fromPython } from './python.ts';

export type { Folder } from './draft.ts';

export interface Discovery {
  readonly file: string;
  readonly used: boolean;
  /** A sentence. */
  readonly what: string;
}

export interface Suggested {
  readonly text: string;
  readonly components: readonly string[];
  readonly found: readonly Discovery[];
}

/** Who says best what to run comes first; the others mostly say the same in other words. */
const FINDERS: readonly ((folder: Folder) => StarterFindings | null)[] = [
  fromProcessCompose,
  fromPm2,
  fromSupervisord,
  fromProcfile,
  fromPackageJson,
  fromPython,
];

/** Runs as it is, so that the first `keepwell up` works. */
const EXAMPLE: Draft = {
  name: 'example',
  command: { shell: 'echo "it works"; while :; do sleep 60; done' },
  why: ['An example that runs as it is. Put your own program here: command: [./bin/server, --port, "8080"]'],
};

export function suggest(folder: Folder): Suggested {
  const compose = fromCompose(folder);
  const all = [...FINDERS.map((find) => find(folder)), compose].filter((found) => found !== null);
  const source = all.find(({ drafts }) => drafts.length > 0) ?? null;
  const components = named(source?.drafts ?? [EXAMPLE]);
  const found = all.map((one) => discovery(one, source, components));
  const looked = all.filter((one) => one === source || one.drafts.length === 0);
  const remarks = looked.flatMap(({ file, remarks: sentences }) => sentences.map((sentence) => `${file}: ${sentence}`));
  const notes = [
    ...remarks,
    ...found.filter(({ file, used }) => !used && file !== compose?.file).map(({ file, what }) => `${file}: ${what}`),
    ...(compose === source ? [] : (compose?.mention ?? [])),
  ];
  const text = starterText({
    project: nameFrom(folder.name) || 'project',
    components,
    intro: [
      `What Keepwell keeps running here. Written by "keepwell init"${source ? ` from ${source.file}` : ''}.`,
      'Check it with "keepwell validate", start it with "keepwell up", look with "keepwell status".',
    ],
    notes,
  });
  return { text, components: components.map(({ key }) => key), found };
}

function discovery(
  { file, drafts, why = 'nothing in it looks like a service.' }: StarterFindings,
  source: StarterFindings | null,
  components: readonly Named[],
): Discovery {
  if (file === source?.file) {
    return { file, used: true, what: `used for ${components.map(({ key }) => key).join(', ')}` };
  }
  if (drafts.length === 0) return { file, used: false, what: why };
  return { file, used: false, what: `not used, because ${source?.file} says what to run.` };
}

// Drafts as the text of a configuration, with comments for people who see one for the first time.

export interface Named extends Draft {
  /** Valid, and like no other. */
  readonly key: string;
}

const MAX_NAME = 63;

/** "Web Server" becomes web-server; a second one web-server-2. */
export function named(drafts: readonly Draft[]): readonly Named[] {
  const taken = new Set<string>();
  return drafts.map((draft) => {
    const wanted = nameFrom(draft.name) || 'component';
    let key = wanted;
    for (let count = 2; taken.has(key); count += 1)
      key = `${wanted.slice(0, MAX_NAME - 1 - String(count).length)}-${count}`;
    taken.add(key);
    return { ...draft, key };
  });
}

const comment = (line: string): string => `# ${printable(line)}`.trimEnd();

export interface Starter {
  readonly project: string;
  readonly components: readonly Named[];
  /** What the file says at its top. */
  readonly intro: readonly string[];
  /** What was found and not used. */
  readonly notes: readonly string[];
}

export function starterText({ project, components, intro, notes }: Starter): string {
  return [
    ...intro.map(comment),
    `name: ${flowText(project)}`,
    'components:',
    ...components.flatMap((one) => componentLines(one, needsOf(one, components))),
    ...(notes.length === 0 ? [] : ['', ...notes.map(comment)]),
    '',
    ...MORE.map(comment),
    '',
  ].join('\n');
}

/** By key. */
function needsOf({ needs, isJob }: Named, components: readonly Named[]): readonly (readonly [string, Need])[] {
  if (needs === undefined)
    return isJob ? [] : components.filter((one) => one.isJob).map(({ key }) => [key, 'completed']);
  const wanted = components.filter(({ name }) => Object.hasOwn(needs, name));
  return wanted.map(({ key, name }) => [key, needs[name]!]);
}

function componentLines(one: Named, needs: readonly (readonly [string, Need])[]): string[] {
  const { key, isJob, why, keys = [], ...draft } = one;
  const named = needs.map(([name, need]) => `${flowText(name)}: ${need}`);
  return [
    ...why.map((line) => `  ${comment(line)}`),
    `  ${flowText(key)}:`,
    ...commandLines(draft).map((line) => `    ${line}`),
    ...(isJob ? ['    restart: { policy: on-failure }'] : []),
    ...keys.map((line) => `    ${line}`),
    ...(named.length > 0 ? [`    depends_on: { ${named.join(', ')} }`] : []),
  ];
}

type Process = Omit<Draft, 'name' | 'isJob' | 'needs' | 'why' | 'keys' | 'at'>;

function commandLines({ command, env = {}, envFile, cwd, user, group, umask, nice }: Process): string[] {
  if ('compose' in command) return [composeText(command.compose)];
  const variables = Object.entries(env).map(([name, value]) => `${name}: ${flowText(literal(value))}`);
  const texts = Object.entries({ cwd, user, group }).flatMap(([key, text]) =>
    text === undefined ? [] : [`${key}: ${flowText(literal(text))}`],
  );
  return [
    'process:',
    ...processLines(command).map((line) => `  ${line}`),
    ...texts.map((line) => `  ${line}`),
    ...(umask === undefined ? [] : [`  umask: "${umask}"`]),
    ...(nice === undefined ? [] : [`  nice: ${nice}`]),
    ...(variables.length > 0 ? environmentLines(variables) : []),
    ...(envFile === undefined ? [] : [`  env_file: ${filesText(envFile)}`]),
  ];
}

const MAX_INLINE_CHARS = 100;

/** On one line where that can be read. */
function environmentLines(variables: readonly string[]): readonly string[] {
  const inline = `  env: { ${variables.join(', ')} }`;
  return inline.length <= MAX_INLINE_CHARS || variables.length === 1
    ? [inline]
    : ['  env:', ...variables.map((line) => `    ${line}`)];
}

const filesText = (files: string | readonly string[]): string =>
  typeof files === 'string' ? flowText(literal(files)) : flowList(files.map(literal));

const processLines = (command: Exclude<Command, { compose: unknown }>): string[] =>
  'shell' in command
    ? ['shell: true', `command: ${shellText(literal(command.shell))}`]
    : [`command: ${flowList(command.argv.map(literal))}`];

/** Always quoted: a line of shell is full of characters that mean something to YAML. */
const shellText = (line: string): string => printable(JSON.stringify(line));

/** What a beginner looks for next. A test removes the "#" and validates it. */
export const MORE = [
  'More that a component can have ("keepwell schema" and docs/reference/config.md have all of it):',
  '',
  '  api:',
  '    process:',
  '      command: [./bin/api, --port, "8080"]   # one list item per argument; a line of shell needs shell: true',
  '      cwd: ./api                             # relative to this file',
  '      env: { LOG_LEVEL: info }',
  '      env_file: .env                         # read again at each start',
  '    depends_on: { database: ready }          # started | ready | completed',
  '    readiness: { http: { port: 8080, path: /ready } }   # or tcp: 8080, exec: { command: [...] }, log: "listening"',
  '    liveness: { tcp: 8080, period: 10s }     # restarted when this fails three times',
  '    restart: { policy: on-failure, limit: { max: 5, within: 10m } }   # "keepwell backoff api" shows the waits',
  '    stop: { signal: SIGTERM, grace: 30s }',
];
