/** Files of other process managers that lie in the folder, read by the importers. */
import { type ImportFindings, type ImportFormat, lossText } from '../import/findings.ts';
import { fromPm2 as importPm2 } from '../import/pm2.ts';
import { fromProcessCompose as importProcessCompose } from '../import/process-compose.ts';
import { fromSupervisord as importSupervisord } from '../import/supervisord.ts';
import { Problems } from '../problem.ts';
import type { Folder, StarterFindings } from './draft.ts';

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
  const { drafts, lost } = findings;
  return { file, drafts, remarks: lost.map((loss) => `not carried over: ${lossText(loss)}`) };
}

export const fromProcessCompose = (folder: Folder): StarterFindings | null =>
  found(folder, ['process-compose.yaml', 'process-compose.yml'], 'process-compose', (file, text, problems) =>
    importProcessCompose({ file, text }, problems),
  );

/** A program is never run here: it is only said how to. */
export function fromPm2(folder: Folder): StarterFindings | null {
  const program = PM2_PROGRAMS.find((name) => folder.has(name));
  const listed = found(folder, PM2_FILES, 'pm2', (file, text, problems) => importPm2({ file, text }, problems));
  if (listed !== null || program === undefined) return listed;
  const why = `it is a program, which init does not run: "keepwell import pm2 ${program} --run" does.`;
  return { file: program, drafts: [], remarks: [], why };
}

export const fromSupervisord = (folder: Folder): StarterFindings | null =>
  found(folder, ['supervisord.conf', 'supervisor.conf'], 'supervisord', (file, text) => {
    const findings = importSupervisord([{ file, text, here: '.' }]);
    return findings.problems.length > 0 ? null : findings;
  });
