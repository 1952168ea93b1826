/** Tools about the configuration and about waiting: validate, plan_reload, wait. They change nothing. */
import { z } from 'zod';
import type { ReloadView, ValidationView } from '../../api/control.ts';
import { GOALS } from '../../supervision/rules/goal.ts';
import { untilGoal } from '../commands/wait.ts';
import { type Answer, answer, failure } from './answer.ts';
import type { McpProject } from './project.ts';
import { PATTERN, tool } from './tool.ts';
import { brief } from './tools-state.ts';

export const validate = tool({
  name: 'validate',
  title: 'Check the configuration',
  description:
    'Reads the configuration files as they are now and reports every problem with file, line, column and what to write instead. Call it after you edited keepwell.yaml.',
  input: z.strictObject({}),
  run: async (project) => {
    const { problems, ...facts } = await validated(project);
    return answer(
      { ...facts },
      { list: { key: 'problems', items: problems, more: 'Mend these first, then ask again.' } },
    );
  },
});

async function validated({ call }: McpProject): Promise<Omit<ValidationView, 'schema_version'>> {
  if (call.host !== null) return await call.client.validate();
  const { files, home } = call.project;
  const { loadConfig } = await import('../../config/load.ts');
  try {
    const { components } = loadConfig({ files, home, env: call.world.env, cwd: call.world.cwd });
    return { valid: true, files, components: components.map(({ name }) => name), problems: [] };
  } catch (error) {
    if (!(error instanceof Error && 'problems' in error && Array.isArray(error.problems))) throw error;
    return { valid: false, files, components: [], problems: error.problems };
  }
}

export const planReload = tool({
  name: 'plan_reload',
  title: 'What a reload would do',
  description:
    'What "reload" would do with the configuration as it is now, for each component: added, removed, restarted (and because of which keys), changed without a restart, or unchanged. Changes nothing. Needs a running daemon.',
  input: z.strictObject({}),
  run: async ({ call }) => planAnswer(await call.client.reload({ dryRun: true })),
});

/** What stays as it is is only counted. */
export function planAnswer({ steps, settings, dry_run: dryRun }: ReloadView, more: object = {}): Answer {
  const touched = steps.filter(({ action, starts }) => action !== 'unchanged' || starts);
  return answer(
    { dry_run: dryRun, settings, unchanged: steps.length - touched.length, ...more },
    { list: { key: 'steps', items: touched, more: 'Run "keepwell reload --dry-run" for all of it.' } },
  );
}

const MAX_WAIT_SECONDS = 120;

export const wait = tool({
  name: 'wait',
  title: 'Wait for a component',
  description:
    'Waits until components are ready (or running, stopped, completed, healthy) and answers at once when they are, or when they cannot get there: gave up, or crashes again and again. Use it after a restart or an edit instead of asking status in a loop.',
  input: z.strictObject({
    name: PATTERN,
    for: z.enum(GOALS).default('ready'),
    timeout: z.number().min(0).max(MAX_WAIT_SECONDS).default(30).describe('seconds'),
  }),
  run: async ({ call }, { name, for: goal, timeout }, signal) => {
    const { status, problem } = await untilGoal(call, [name], { for: goal, timeout: timeout * 1_000 }, signal);
    const components = status.components.map(brief);
    if (problem === null) return answer({ reached: true, for: goal, components });
    const { content } = failure(problem);
    return answer({ reached: false, for: goal, ...(JSON.parse(content[0]!.text) as object), components });
  },
});
