/** A compose service, complete: every path absolute. */
import type { ComposeSpec } from '../supervision/spec.ts';
import { DEFAULTS } from './defaults.ts';
import type { ComposeConfig } from './shape/compose.ts';
import { emptyRecord } from './walk.ts';

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
