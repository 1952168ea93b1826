/** A first configuration from what lies in a folder. Pure: the folder is handed in, the text is handed back. */
import { nameFrom } from '../readers.ts';
import { fromCompose } from './compose.ts';
import type { Draft, Folder, StarterFindings } from './draft.ts';
import { fromPm2, fromProcessCompose, fromSupervisord } from './neighbours.ts';
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
