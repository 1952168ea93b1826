/** A crash that somebody asks for. No command comes with it: what is done is one of a few things, to what the configuration names. */
import { z } from 'zod';
import { CRASH_KINDS } from '../../supervision/rules/simulation.ts';
import { type Route, route } from '../route.ts';
import { NAME } from '../schemas.ts';

const KIND = z.enum(CRASH_KINDS);

const MAX_TASK_CHARS = 1_024;

const BODY = z
  .strictObject({
    component: NAME.optional().meta({ description: 'This one; or `agent`.' }),
    agent: NAME.optional().meta({ description: 'An agent of this type.' }),
    task: z.string().min(1).max(MAX_TASK_CHARS).optional().meta({
      description: 'With `agent` and `signal` or `hang`: the agent of this task. Default: the newest that runs.',
    }),
    kind: KIND.optional().meta({ description: 'Default: exit for a component, import-error for an agent.' }),
    dry_run: z.boolean().optional().meta({ description: 'Only say what would be done. Default: false.' }),
    notify: z.boolean().optional().meta({ description: 'Trackers outside are told, too. Default: false.' }),
  })
  .meta({ examples: [{ component: 'worker', kind: 'signal' }] });

export const simulateRoute: Route = route({
  method: 'POST',
  path: '/v1/simulate-crash',
  id: 'simulateCrash',
  access: 'control',
  summary:
    'Makes a component or an agent crash, to see whether what should follow does. The crash is marked as simulated.',
  success: 202,
  body: BODY,
  answer: 'Simulation',
  errors: [
    'NO_SUCH_COMPONENT',
    'NO_SUCH_AGENT_TYPE',
    'COMPONENT_NOT_RUNNING',
    'AGENTS_FULL',
    'NOT_SIMULATED',
    'DAEMON_CLOSING',
  ],
  handler: ({ services, body: { dry_run: dryRun, ...rest } }) => services.control.simulate({ ...rest, dryRun }),
});
