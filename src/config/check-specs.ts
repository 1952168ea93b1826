/** Checks, complete: every default filled in, every path absolute, every command an argv. */

import { z } from 'zod';
import { componentName } from '../base/pure/ids.ts';
import type { CheckQuestion, CheckSpec } from '../checks/spec.ts';
import type { ProbeHome } from '../probes/kind.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { boolean, exactlyOne, leaf, name, nameKey, optional, path, positiveDuration, text } from './leaves.ts';
import { keysOf, QUESTIONS_OF_CHECKS, type QuestionConfig, questionSpec } from './probes.ts';
import { readContainerName, readEnvName, readPath } from './readers.ts';

const DEFAULT = DEFAULTS.check;

export function checkSpec(name: string, config: CheckConfig, home: ProbeHome): CheckSpec {
  return {
    name,
    needs: config.needs ?? [],
    question: question(config, home),
    hint: config.hint ?? null,
    timeoutMs: config.timeout ?? DEFAULT.timeoutMs,
  };
}

function question(config: CheckConfig, home: ProbeHome): CheckQuestion {
  const { container_running, file_exists, env_set, state_file, component, all_of } = config;
  if (container_running !== undefined) return { kind: 'container_running', container: container_running };
  if (file_exists) return fileExists(file_exists, home);
  if (env_set) return { kind: 'env_set', in: env_set.in ?? null, name: env_set.name };
  if (state_file) return stateFile(state_file, home);
  if (component !== undefined) return { kind: 'component', component: componentName(component) };
  const asked = all_of
    ? { kind: 'all_of' as const, all: all_of.map((item) => questionSpec(item as QuestionConfig, home)) }
    : questionSpec(config as QuestionConfig, home);
  return { kind: 'probe', question: asked };
}

function fileExists(config: NonNullable<CheckConfig['file_exists']>, { absolute }: ProbeHome): CheckQuestion {
  const paths = [config.any_of].flat();
  // Inside a container they are absolute already, and none of this machine's business.
  const anyOf = config.in === undefined ? paths.map(absolute) : paths;
  return { kind: 'file_exists', in: config.in ?? null, anyOf };
}

function stateFile(config: NonNullable<CheckConfig['state_file']>, { absolute }: ProbeHome): CheckQuestion {
  const { idleWhenMissing, statusField, taskField } = DEFAULT.stateFile;
  return {
    kind: 'state_file',
    path: absolute(config.path),
    idleWhenMissing: config.idle_when_missing ?? idleWhenMissing,
    statusField: config.status_field ?? statusField,
    taskField: config.task_field ?? taskField,
  };
}

// Checks as a schema: what each kind asks, what it needs, and how often they run by themselves.

const SHOWN = DEFAULTS.check;
const NONE = { defaultNote: 'none' };

const container = leaf(readContainerName, 'name of a container', {
  id: 'container-name',
  type: 'string',
  pattern: '^[A-Za-z0-9][\\w.-]*$|\\$\\{',
});
const inside = optional(container, {
  description: 'Look inside this container.',
  defaultNote: 'on this machine',
  example: 'sandbox',
});

const fileMap = z
  .strictObject({
    in: inside,
    any_of: z.union([z.array(path), path]).meta({
      description:
        'One of these must exist. Relative to the folder of the first configuration file; inside a container, absolute.',
      example: ['/root/.claude/credentials.json'],
    }),
  })
  .meta({ id: 'check-file-exists' });

const fileShort = leaf<z.output<typeof fileMap>>(
  (node) => {
    const read = readPath(node);
    return 'value' in read ? { value: { any_of: [read.value] } } : read;
  },
  'path',
  { type: 'string', minLength: 1 },
);

const variable = leaf(readEnvName, 'name of a variable', { type: 'string', pattern: '^[^=\\u0000]+$' });

const envMap = z
  .strictObject({
    in: inside,
    name: variable.meta({
      description: 'It must be set, and not empty. Its value is never shown.',
      example: 'GH_TOKEN',
    }),
  })
  .meta({ id: 'check-env-set' });

const envShort = leaf<z.output<typeof envMap>>(
  (node) => {
    const read = readEnvName(node);
    return 'value' in read ? { value: { name: read.value } } : read;
  },
  'name of a variable',
  { type: 'string', pattern: '^[^=\\u0000]+$' },
);

const stateMap = z
  .strictObject({
    path: path.meta({
      description: 'A JSON file in which a program reports what it does, relative to the folder of the first file.',
      example: 'state.json',
    }),
    idle_when_missing: optional(boolean, {
      description: 'Without the file it is idle, and that is fine.',
      defaultsTo: SHOWN.stateFile.idleWhenMissing,
      example: true,
    }),
    status_field: optional(text, {
      description: 'The field that says what it does, such as `working` or `paused`.',
      defaultsTo: SHOWN.stateFile.statusField,
      example: 'state',
    }),
    task_field: optional(text, {
      description: 'The field that names the task.',
      defaultsTo: SHOWN.stateFile.taskField,
      example: 'task_id',
    }),
  })
  .meta({ id: 'check-state-file' });

const stateShort = leaf<z.output<typeof stateMap>>(
  (node) => {
    const read = readPath(node);
    return 'value' in read ? { value: { path: read.value } } : read;
  },
  'path',
  { type: 'string', minLength: 1 },
);

const item = exactlyOne(z.strictObject(QUESTIONS_OF_CHECKS), keysOf(QUESTIONS_OF_CHECKS)).meta({
  id: 'check-question',
  kind: 'questions',
});

/** Their keys are described with the probes, and not again. */
function sameAsOfProbes<Fields extends Readonly<Record<string, z.ZodType>>>(fields: Fields): Fields {
  const described = Object.entries(fields).map(([key, field]) => {
    const same = { ...field.meta(), sameKeysAs: `components.NAME.readiness.${key}` };
    return [key, field.meta(same)] as const;
  });
  return Object.fromEntries(described) as unknown as Fields;
}

const KINDS = {
  container_running: optional(container, {
    description: 'This container is running.',
    ...NONE,
    example: 'sandbox',
  }),
  file_exists: optional(z.union([fileMap, fileShort]), {
    description: 'A file or folder exists, on this machine or inside a container. Short form: a path.',
    ...NONE,
    example: { in: 'sandbox', any_of: ['/root/.claude/credentials.json'] },
  }),
  env_set: optional(z.union([envMap, envShort]), {
    description: 'A variable is set, on this machine or inside a container. Short form: its name.',
    ...NONE,
    example: { in: 'sandbox', name: 'GH_TOKEN' },
  }),
  state_file: optional(z.union([stateMap, stateShort]), {
    description: 'What an orchestrator reports about itself in a file. Short form: its path.',
    ...NONE,
    example: { path: 'state.json', idle_when_missing: true },
  }),
  component: optional(name, {
    description: 'This component runs, is healthy and ready.',
    ...NONE,
    example: 'api',
  }),
  ...sameAsOfProbes(QUESTIONS_OF_CHECKS),
  all_of: optional(z.array(item).meta({ minItems: 1 }), {
    description: 'Several questions, all of which must pass. Each is a map with one question of a probe.',
    ...NONE,
    example: [{ tcp: 7233 }, { http: { port: 8080 } }],
  }),
};

export const CHECK_KINDS = Object.keys(KINDS) as (keyof typeof KINDS)[];

const checkSchema = exactlyOne(
  z.strictObject({
    ...KINDS,
    needs: optional(z.array(nameKey), {
      description: 'Checks that must be ok first; otherwise this one is skipped.',
      defaultsTo: [],
      example: ['sandbox'],
    }),
    hint: optional(text, {
      description: 'What to do when it fails; part of the message.',
      ...NONE,
      example: 'run ./scripts/sandbox-init.sh',
    }),
    timeout: optional(positiveDuration, {
      description: 'No answer within this time is a failure.',
      defaultsTo: durationText(SHOWN.timeoutMs),
      example: '10s',
    }),
  }),
  CHECK_KINDS,
).meta({ id: 'check', kind: 'checks' });

export const checksSchema = z.record(nameKey, checkSchema).meta({ minProperties: 1 });

export const healthSchema = z.strictObject({
  every: optional(positiveDuration, {
    description: 'The daemon runs all checks this often, keeps their results and reports each change.',
    defaultNote: 'only when asked',
    example: '1m',
  }),
});

export type CheckConfig = z.output<typeof checkSchema>;
