/** Where a campaign is, with a part of it changed. */
import type { CampaignState, ServiceState } from './state.ts';

export const service = (state: CampaignState, name: string): ServiceState => state.services[name]!;

export const changed = (state: CampaignState, name: string, part: Partial<ServiceState>): CampaignState => ({
  ...state,
  services: { ...state.services, [name]: { ...service(state, name), ...part } },
});

export const withExperiment = (
  state: CampaignState,
  position: number,
  experiment: CampaignState['experiments'][number],
): CampaignState => ({
  ...state,
  experiments: state.experiments.map((one, index) => (index === position ? experiment : one)),
});

/**
 * All services are started again, those that they depend on included: that costs nothing where they live. A restart that the Engine's
 * absence spoilt did not happen.
 */
export function afterOutage(state: CampaignState): CampaignState {
  const down = { ...state, areServicesUp: false, wasAway: true };
  if (state.doing.kind !== 'recovering') return down;
  const { position, because } = state.doing;
  const { service: name } = state.experiments[position]!;
  return changed(down, name, { restarts: service(state, name).restarts - 1, mustRecover: because });
}
