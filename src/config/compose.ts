/** A compose service, complete: every path absolute. */
import { z } from 'zod';
import type { ComposeSpec } from '../supervision/spec.ts';
import { DEFAULTS } from './defaults.ts';
import { leaf, optional, path } from './leaves.ts';
import { type Reader, readText, refuse } from './readers.ts';
import { quoted } from './text.ts';
import { emptyRecord } from './tree.ts';

// The name of a service of a compose file.

export const SERVICE_PATTERN = '^[A-Za-z0-9._-]+$|\\$\\{';

export const readService: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || /^[A-Za-z0-9._-]{1,200}$/.test(read.value)) return read;
  const shown = node.kind === 'scalar' ? quoted(node.source) : 'it';
  return refuse(
    `${shown} is not the name of a compose service`,
    'Use the name as it stands under "services:" in the compose file.',
  );
};

export function composeSpec(
  { file, service, project_dir }: ComposeConfig,
  absolute: (path: string) => string,
): ComposeSpec {
  const path = absolute(file ?? DEFAULTS.compose.file);
  const projectDir = project_dir === undefined ? path.replace(/\/[^/]*$/, '') || '/' : absolute(project_dir);
  return {
    kind: 'compose',
    file: path,
    projectDir,
    service,
    cwd: projectDir,
    env: emptyRecord<string>(),
    envFiles: [],
  };
}

// A service of a compose file that is kept.

export const composeSchema = z.strictObject({
  service: leaf(readService, 'compose service', { type: 'string', pattern: SERVICE_PATTERN }).meta({
    description: 'The service, as it is called in the compose file.',
    example: 'redis',
  }),
  file: optional(path, {
    description: 'The compose file, relative to the folder of the first configuration file.',
    defaultsTo: DEFAULTS.compose.file,
    example: 'deploy/compose.yaml',
  }),
  project_dir: optional(path, {
    description: 'What paths in the compose file are relative to, and what the compose project is called after.',
    defaultNote: 'the folder of the compose file',
    example: '.',
  }),
});

export type ComposeConfig = z.output<typeof composeSchema>;
