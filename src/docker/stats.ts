/** What a container uses right now. */
import type { ContainerStats, Deed, EngineClient } from './ports.ts';
import { type Caller, isUnreachable, unreachable } from './caller.ts';
import { deed, NOT_AN_ENGINE } from './action.ts';
import { type Fields, fieldsOf, parseJson, textOf } from './json.ts';

const NS_PER_MS = 1e6;
/** How the Engine writes a time that has not come: the year 1. */
const NEVER = '0001-';

export async function stats(
  caller: Caller,
  id: string,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<EngineClient['stats']>>> {
  // Without "one-shot" the Engine takes two samples, a second apart. Those before 20.10 do so all the same.
  const path = `/containers/${encodeURIComponent(id)}/stats?stream=false&one-shot=true`;
  const answer = await caller({ path }, signal);
  if (isUnreachable(answer) || answer.status !== 200) return deed(answer, { of: id });
  const fields = fieldsOf(parseJson(answer.body));
  if (fields === null) return unreachable(NOT_AN_ENGINE);
  return readStats(fields);
}

function readStats(fields: Fields): { readonly kind: 'read'; readonly stats: ContainerStats } | Deed {
  const memory = fieldsOf(fields['memory_stats']) ?? {};
  const cpu = fieldsOf(fieldsOf(fields['cpu_stats'])?.['cpu_usage']) ?? {};
  const used = memory['usage'];
  if (textOf(fields['read']).startsWith(NEVER) || typeof used !== 'number')
    return { kind: 'refused', why: 'the container does not run, so it uses nothing' };
  const detail = fieldsOf(memory['stats']) ?? {};
  // The first is of cgroup v1, the second of v2.
  const cache = number(detail['total_inactive_file']) || number(detail['inactive_file']);
  return {
    kind: 'read',
    stats: {
      cpuMs: number(cpu['total_usage']) / NS_PER_MS,
      memoryBytes: Math.max(0, used - cache),
      memoryLimitBytes: number(memory['limit']) || null,
      processes: number(fieldsOf(fields['pids_stats'])?.['current']),
    },
  };
}

const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
