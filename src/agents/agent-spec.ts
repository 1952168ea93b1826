/** An agent as the parts of the daemon see it that know components: how it is started, whose output it is, what is secret. */

import { secretsOf } from '../crashes/evidence.ts';
import { straySpec } from '../drivers/stray-spec.ts';
import { type Circumstances, NO_CIRCUMSTANCES } from '../incidents/tickets/rules/evidence.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import { agentName, heartbeatWithTask, withTask } from './rules/task.ts';
import type { AgentRecord, AgentsSpec, AgentType } from './spec.ts';

/** `type`: null when the configuration does not name it any more; then it can only be read about. */
export function agentSpec({ name, task }: Pick<AgentRecord, 'name' | 'task'>, type: AgentType | null): ComponentSpec {
  const stray = straySpec(name);
  if (type === null) return stray;
  const { process, stop, limits, minUptimeMs, logs } = type;
  const heartbeat = type.heartbeat && { heartbeat: heartbeatWithTask(type.heartbeat, task) };
  return { ...stray, driver: withTask(process, task), stop, limits, minUptimeMs, logs, ...heartbeat };
}

/** For its tickets: how it was started, and whose work it is. The task is part of the command. */
export function agentCircumstances(
  { agentType, taskId }: { readonly agentType?: string; readonly taskId?: string },
  { types }: AgentsSpec,
  base: Readonly<Record<string, string>>,
  ofConfig: readonly string[],
): Circumstances {
  const type = types.find(({ name }) => name === agentType);
  if (!type) return NO_CIRCUMSTANCES;
  const task = taskId ?? '';
  const spec = agentSpec({ name: agentName(type.name, task), task }, type);
  const { command, cwd } = withTask(type.process, task);
  return { command, cwd, assignedTo: type.assignedTo, secrets: secretsOf(spec, base, ofConfig) };
}
