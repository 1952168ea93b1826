/** Whether anything would notice that a component hangs: if not, a simulated hang would last for ever. Pure. */
import { noticesHang, type ProbeQuestion } from '../../supervision/rules/health/probe.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';

type Watched = Pick<ComponentView, 'heartbeat' | 'container_details'>;

/** "its heartbeat is overdue": what ends the hang; null: nothing would. */
export function noticedWhen(view: Watched, liveness: ProbeQuestion | null): string | null {
  if (view.heartbeat !== null) return 'its heartbeat is overdue';
  if (liveness !== null && noticesHang(liveness)) return 'its liveness probe fails';
  const health = view.container_details?.health ?? 'none';
  return health === 'none' ? null : "Docker's health check of it fails";
}
