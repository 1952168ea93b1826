/** Whether anything would notice that a component hangs: if not, a simulated hang would last for ever. Pure. */
import type { ProbeQuestion } from '../../supervision/rules/health/probe.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';

type Watched = Pick<ComponentView, 'heartbeat' | 'container_details'>;

/** "its heartbeat is overdue": what ends the hang; null: nothing would. */
export function noticedWhen(view: Watched, liveness: ProbeQuestion | null): string | null {
  if (view.heartbeat !== null) return 'its heartbeat is overdue';
  if (liveness !== null && canNotice(liveness)) return 'its liveness probe fails';
  const health = view.container_details?.health ?? 'none';
  return health === 'none' ? null : "Docker's health check of it fails";
}

/** The kernel answers for a process that is stopped: it is there, and its connections are accepted. */
function canNotice(question: ProbeQuestion): boolean {
  switch (question.kind) {
    case 'pid':
    case 'tcp':
    case 'log':
      return false;
    case 'all_of':
      return question.all.some(canNotice);
    default:
      return true;
  }
}
