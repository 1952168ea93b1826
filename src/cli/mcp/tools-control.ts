/** Tools that change something. They are there with --allow-control only, and take names, never patterns, commands or paths. */
import { z } from 'zod';
import { awaitAction, requireRemembered } from '../await-action.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { noSuch } from '../targets.ts';
import { type Answer, answer, failure } from './answer.ts';
import type { McpProject } from './project.ts';
import { type Tool, tool } from './tool.ts';
import { planAnswer } from './tools-plan.ts';
import { brief } from './tools-state.ts';

/** Then it answers how far things are; "wait" goes on from there. */
const SETTLE_MS = 30_000;
const MAX_NAMES = 20;

const NAMES = z
  .array(z.string().min(1).max(200))
  .min(1)
  .max(MAX_NAMES)
  .describe('names of components, as in status; no patterns');

type Verb = 'start' | 'stop' | 'restart';

const action = (verb: Verb, title: string, description: string): Tool =>
  tool({
    name: verb,
    title,
    description: `${description} Waits up to ${SETTLE_MS / 1_000} s for the outcome and answers with the status after it.`,
    input: z.strictObject({ names: NAMES }),
    controls: { stops: verb !== 'start' },
    run: (project, { names }) => act(project, verb, names),
  });

async function act({ call }: McpProject, verb: Verb, names: readonly string[]): Promise<Answer> {
  await awaitDaemon(call);
  const { components: before } = await call.client.status();
  const known = before.filter(({ removed }) => !removed).map(({ name }) => name);
  const strange = names.find((name) => !known.includes(name));
  if (strange !== undefined) throw noSuch(strange, known);
  const done = await call.client.act(verb, names);
  const { status, problem } = await awaitAction(call, { action: verb, names, before, timeoutMs: SETTLE_MS });
  const components = status.components.filter(({ name }) => names.includes(name)).map(brief);
  requireRemembered(done);
  if (problem === null) return answer({ done: verb, components });
  const { error } = JSON.parse(failure(problem).content[0]!.text) as { error: object };
  return { ...answer({ asked: verb, error, components }), isError: true };
}

const reload = tool({
  name: 'reload',
  title: 'Apply the edited configuration',
  description:
    'Applies keepwell.yaml as it is now: new components are started, removed ones stopped, and of changed ones only those restarted whose running process the change concerns. With a mistake in the configuration nothing is touched. Call validate and plan_reload first, and wait afterwards.',
  input: z.strictObject({}),
  controls: { stops: true },
  run: async ({ call }) => {
    await awaitDaemon(call);
    return planAnswer(await call.client.reload(), { applied: true });
  },
});

const spawnAgent = tool({
  name: 'spawn_agent',
  title: 'Spawn an agent for a task',
  description:
    'Starts a worker of a type that the configuration names, for a task. The task is one argument of its command, whatever it contains.',
  input: z.strictObject({
    type: z.string().min(1).max(200).describe('a type of agent in the configuration'),
    task: z.string().min(1).max(1024).describe('the id of the task'),
  }),
  controls: { stops: false },
  run: async ({ call }, { type, task }) => {
    await awaitDaemon(call);
    const { agent } = await call.client.spawnAgent({ type, task });
    return answer({ agent });
  },
});

export const CONTROL_TOOLS: readonly Tool[] = [
  action(
    'restart',
    'Restart components',
    'Stops components and starts them again; dependents are stopped first and started last.',
  ),
  action('start', 'Start components', 'Starts components and keeps them running.'),
  action(
    'stop',
    'Stop components',
    'Stops components, dependents first. They stay stopped, also after a reboot, until somebody starts them.',
  ),
  reload,
  spawnAgent,
];
