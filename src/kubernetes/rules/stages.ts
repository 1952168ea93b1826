/** Dependencies as stages: Kubernetes starts everything at once, so what others need is applied, and waited for, first. */

import { levels } from '../../supervision/rules/graph.ts';
import type { ComponentSpec, DependencyCondition } from '../../supervision/spec.ts';
import type { Notes } from './given.ts';
import { objectName } from './names.ts';
import { LABELS } from './object.ts';

export interface Stage {
  /** From 1, without gaps. */
  readonly number: number;
  readonly components: readonly string[];
  /** Commands that end when the next stage may begin. */
  readonly waits: readonly string[];
}

/** One shot, or kept running: what Kubernetes makes of it. */
export const isJob = ({ restart }: ComponentSpec): boolean => restart.policy !== 'always';

/** The stages of `rendered`; the others only pass on what they depend on. */
export function stagesOf(
  all: readonly ComponentSpec[],
  rendered: readonly ComponentSpec[],
  namespace: string | null,
): readonly Stage[] {
  const steps = levels(new Map(all.map(({ name, dependsOn }) => [name, Object.keys(dependsOn)])));
  const used = [...new Set(rendered.map(({ name }) => steps.get(name)!))].sort((a, b) => a - b);
  return used.map((step, index) => {
    const members = rendered.filter(({ name }) => steps.get(name) === step);
    return {
      number: index + 1,
      components: members.map(({ name }) => name),
      waits: members.flatMap((member) => waitFor(member, rendered, namespace)),
    };
  });
}

const TIMEOUT = '--timeout=120s';

function waitFor(spec: ComponentSpec, rendered: readonly ComponentSpec[], namespace: string | null): readonly string[] {
  const wanted = new Set<DependencyCondition | undefined>(rendered.map(({ dependsOn }) => dependsOn[spec.name]));
  const name = objectName(spec.name);
  const kubectl = namespace === null ? 'kubectl' : `kubectl -n ${namespace}`;
  if (wanted.has('completed')) return [`${kubectl} wait --for=condition=complete job/${name} ${TIMEOUT}`];
  if (!wanted.has('ready')) return [];
  return isJob(spec)
    ? [`${kubectl} wait --for=condition=ready pod -l ${LABELS.name}=${name} ${TIMEOUT}`]
    : [`${kubectl} rollout status deployment/${name} ${TIMEOUT}`];
}

/** `started` cannot be waited for: a Deployment only tells when it is ready. */
export function noteDependencies({ dependsOn }: ComponentSpec, rendered: readonly ComponentSpec[], notes: Notes): void {
  for (const [other, condition] of Object.entries(dependsOn)) {
    const path = ['depends_on', other];
    if (!rendered.some(({ name }) => name === other))
      notes.lose(path, `"${other}" is not rendered, so nobody waits for it`);
    else if (condition === 'started') notes.lose(path, `"${other}" is applied one stage earlier, but not waited for`);
  }
}
