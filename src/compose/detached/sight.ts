/** What the scripts in a container say of an attempt, in the words of the port. */
import type { AttemptPlace, AttemptSight } from '../../campaigns/ports.ts';

export function sightOf({ service }: AttemptPlace, said: string): AttemptSight {
  const exit = /^exit (\d+) (\S*) (\S*) end$/.exec(said);
  if (exit) return { kind: 'ended', exitCode: Number(exit[1]), durationMs: between(exit[2], exit[3]) };
  if (said === 'running' || said === 'absent') return { kind: said };
  if (said === 'dead') return { kind: 'lost', why: `it died in "${service}" without leaving an exit code` };
  return { kind: 'unreachable', why: `what was asked in the container of "${service}" had no usable answer` };
}

/** Two times in seconds, as the kernel writes them: "8123.45". */
function between(from: string | undefined, to: string | undefined): number | null {
  const ms = Math.round((Number(to) - Number(from)) * 1_000);
  return Number.isFinite(ms) && from !== '' && to !== '' ? Math.max(0, ms) : null;
}
