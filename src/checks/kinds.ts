/** Every kind of check beside the questions of probes. A new one is a file in `kinds/`, its question in `spec.ts`, and a line here. */

import type { z } from 'zod';
import type { CheckKind, OwnCheck } from './kind.ts';
import { componentKind } from './kinds/component.ts';
import { containerRunningKind } from './kinds/container-running.ts';
import { envSetKind } from './kinds/env-set.ts';
import { fileExistsKind } from './kinds/file-exists.ts';
import { stateFileKind } from './kinds/state-file.ts';

/** In the order in which pages and messages list them. */
export const CHECK_KINDS = {
  container_running: containerRunningKind,
  file_exists: fileExistsKind,
  env_set: envSetKind,
  state_file: stateFileKind,
  component: componentKind,
} satisfies { readonly [K in OwnCheck]: CheckKind<K, z.ZodType> };
