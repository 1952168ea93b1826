/** The package may be newer than the daemon that answers: what its answers do not have yet is filled in as not known. */
import type { ComponentView, StatusView } from '../../supervision/rules/views.ts';

type Answer<T, Later extends keyof T> = Omit<T, Later> & Partial<Pick<T, Later>>;

/** Keys that came after the first version. */
export type AnsweredComponent = Answer<ComponentView, 'probes' | 'heartbeat' | 'limits' | 'resources' | 'trial_ms'>;

export interface AnsweredStatus extends Omit<StatusView, 'daemon' | 'components'> {
  readonly daemon: Answer<StatusView['daemon'], 'logs' | 'sessions'>;
  readonly components: readonly AnsweredComponent[];
}

export const filledComponent = (view: AnsweredComponent): ComponentView => ({
  ...view,
  probes: view.probes ?? [],
  heartbeat: view.heartbeat ?? null,
  limits: view.limits ?? [],
  resources: view.resources ?? null,
  trial_ms: view.trial_ms ?? null,
});

export const filledStatus = ({ daemon, components, ...rest }: AnsweredStatus): StatusView => ({
  ...rest,
  daemon: { ...daemon, logs: daemon.logs ?? null, sessions: daemon.sessions ?? null },
  components: components.map(filledComponent),
});
