/** Puts each kind of check to whom it belongs. */
import type { CheckQuestion, CheckResult, CheckSpec } from './spec.ts';
import { judgeComponent } from './rules/component-check.ts';
import { failed } from './rules/results.ts';
import { containerRunning } from './kinds/container-running.ts';
import { envSetIn } from './container/env-set.ts';
import { fileExistsIn } from './container/file-exists.ts';
import { envSet } from './kinds/env-set.ts';
import { fileExists } from './kinds/file-exists.ts';
import { stateFile } from './kinds/state-file.ts';
import type { CheckParts } from './parts.ts';
import { probeQuestion } from './probe-question.ts';

/** Whoever is asked lets go of everything when `signal` aborts; how it ends then does not matter. */
export async function ask(
  { question, timeoutMs }: Pick<CheckSpec, 'question' | 'timeoutMs'>,
  parts: CheckParts,
  signal: AbortSignal,
): Promise<CheckResult> {
  switch (question.kind) {
    case 'container_running':
      return await containerRunning(question, await parts.engine(), signal);
    case 'file_exists': {
      const { in: container, anyOf } = question;
      if (container === null) return await fileExists(question, signal);
      return await fileExistsIn({ in: container, anyOf }, await parts.engine(), signal);
    }
    case 'env_set': {
      const { in: container, name } = question;
      if (container === null) return envSet(question, parts);
      return await envSetIn({ in: container, name }, await parts.engine(), signal);
    }
    case 'state_file':
      return await stateFile(question, parts.clock, signal);
    case 'component':
      return await componentCheck(question, parts);
    case 'probe':
      return await probeQuestion(question.question, parts, timeoutMs, signal);
    default:
      throw new Error(`no such check: ${JSON.stringify(question satisfies never)}`);
  }
}

async function componentCheck(
  { component }: Extract<CheckQuestion, { kind: 'component' }>,
  { components }: Pick<CheckParts, 'components'>,
): Promise<CheckResult> {
  const view = (await components()).find(({ name }) => name === component);
  return view ? judgeComponent(view) : failed(`nothing is known about a component ${component}`);
}
