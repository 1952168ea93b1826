/** What a ticket has to know about what crashed: how it was started, whose work it is, and which values must never appear. */

import type { ResolvedConfig } from '../config/load.ts';
import { secretsOf } from '../crashes/evidence.ts';
import { type Circumstances, type Evidence, NO_CIRCUMSTANCES } from './tickets/rules/evidence.ts';

/** For an agent's tickets: how it was started, and whose work it is. */
export type AboutAgent = (
  agent: { readonly agentType?: string; readonly taskId?: string },
  agents: ResolvedConfig['agents'],
  base: Readonly<Record<string, string>>,
  secrets: readonly string[],
) => Circumstances;

/** `base`: the environment that all of them inherit. */
export function circumstances(
  evidence: Evidence,
  { components, agents, secrets }: Pick<ResolvedConfig, 'components' | 'agents' | 'secrets'>,
  base: Readonly<Record<string, string>>,
  aboutAgent: AboutAgent,
): Circumstances {
  const { kind, name } = evidence.kind === 'crash' ? evidence.crash.subject : evidence.problem.subject;
  if (kind === 'agent') {
    const about = evidence.kind === 'crash' ? evidence.crash : {};
    return aboutAgent({ agentType: name, ...about }, agents, base, secrets);
  }
  const spec = kind === 'component' ? components.find((each) => each.name === name) : undefined;
  if (spec === undefined) return { ...NO_CIRCUMSTANCES, secrets };
  const { driver } = spec;
  const started = driver.kind === 'process' ? { command: driver.command, cwd: driver.cwd } : {};
  return { ...NO_CIRCUMSTANCES, ...started, secrets: secretsOf(spec, base, secrets) };
}
