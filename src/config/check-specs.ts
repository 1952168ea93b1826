/** Checks, complete: every default filled in, every path absolute, every command an argv. */
import type { CheckQuestion, CheckSpec } from '../checks/spec.ts';
import { componentName } from '../base/pure/ids.ts';
import { DEFAULTS } from './defaults.ts';
import { type ProbeHome, questionSpec } from './probes.ts';
import type { CheckConfig } from './shape/checks.ts';
import type { QuestionConfig } from './questions.ts';

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
