/** The container of a component, in `status --verbose`. */
import type { ComponentView } from '../../supervision/rules/views.ts';

/** As Docker shortens it. */
const SHORT_ID_CHARS = 12;

export function containerRows({ container, container_details: details }: ComponentView): [string, string | null][] {
  if (container === null) return [];
  if (details === null) return [['Name:', container]];
  const { id, image, image_outdated: isOutdated, health, health_reason: reason, ports, networks } = details;
  return [
    ['Name:', `${container} (container ${id.slice(0, SHORT_ID_CHARS)})`],
    ['Image:', `${image}${isOutdated ? ' (outdated: built or fetched anew since)' : ''}`],
    ['Docker:', health === 'none' ? 'no health check' : `${health}${reason === null ? '' : `: ${reason}`}`],
    ['Ports:', ports.join(', ') || null],
    ['Network:', networks.join(', ') || null],
  ];
}
