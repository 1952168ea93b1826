/** A first configuration from what lies in a folder. Pure: the folder is handed in, the text is handed back. */
import { type ImportFindings, type ImportFormat, lossText } from '../import/findings.ts';
import { fromPm2 as importPm2 } from '../import/pm2.ts';
import { fromProcessCompose as importProcessCompose } from '../import/process-compose.ts';
import { sound, withoutCircles } from '../import/sound.ts';
import { fromSupervisord as importSupervisord } from '../import/supervisord.ts';
import { Problems } from '../problem.ts';
import { nameFrom } from '../readers.ts';
import { fromCompose } from './compose.ts';
import type { Draft, Folder, StarterFindings } from './draft.ts';
import { fromPackageJson } from './package-json.ts';
import { fromProcfile } from './procfile.ts';
import { fromPython } from './python.ts';
import { type Named, named, starterText } from './write.ts';

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

// Files of other process managers that lie in the folder, read by the importers.

const PM2_FILES = ['ecosystem.config.json', 'ecosystem.json', 'ecosystem.config.yaml', 'pm2.json'];
const PM2_PROGRAMS = ['ecosystem.config.js', 'ecosystem.config.cjs', 'ecosystem.config.mjs'];

type Read = (file: string, text: string, problems: Problems) => ImportFindings | null;

function found(folder: Folder, names: readonly string[], format: ImportFormat, read: Read): StarterFindings | null {
  const file = names.find((name) => folder.has(name));
  if (file === undefined) return null;
  const problems = new Problems();
  const findings = read(file, folder.read(file) ?? '', problems);
  const why = `it cannot be read: "keepwell import ${format} ${file}" says why.`;
  if (findings === null || problems.count > 0) return { file, drafts: [], remarks: [], why };
  const apart = withoutCircles(findings.drafts, file);
  const { drafts, refused } = sound(apart.drafts, file, folder.name);
  const lost = [...findings.lost, ...apart.lost, ...refused];
  return {
    file,
    drafts,
    remarks: lost.map((loss) => `not carried over: ${lossText({ ...loss, file: 'line' }).replace(/^line:/, 'line ')}`),
  };
}

const fromProcessCompose = (folder: Folder): StarterFindings | null =>
  found(folder, ['process-compose.yaml', 'process-compose.yml'], 'process-compose', (file, text, problems) =>
    importProcessCompose({ file, text }, problems),
  );

/** A program is never run here: it is only said how to. */
function fromPm2(folder: Folder): StarterFindings | null {
  const program = PM2_PROGRAMS.find((name) => folder.has(name));
  const listed = found(folder, PM2_FILES, 'pm2', (file, text, problems) => importPm2({ file, text }, problems));
  if (listed !== null || program === undefined) return listed;
  const why = `it is a program, which init does not run: "keepwell import pm2 ${program} --run" does.`;
  return { file: program, drafts: [], remarks: [], why };
}

const fromSupervisord = (folder: Folder): StarterFindings | null =>
  found(folder, ['supervisord.conf', 'supervisor.conf'], 'supervisord', (file, text) => {
    const findings = importSupervisord([{ file, text, here: '.' }]);
    return findings.problems.length > 0 ? null : findings;
  });

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
