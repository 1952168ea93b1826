/** What a component uses, in words, in two columns of the status table, and as a table of its history. */
import { formatBytes, formatUptime } from '../../base/pure/format.ts';
import type { ResourcesView, SampleView } from '../../supervision/rules/views.ts';
import { localTime } from './json.ts';
import { table } from './table.ts';

/** Never "0.0 %" for something that does work. */
export function percentText(percent: number | null): string {
  if (percent === null) return '-';
  return percent < 10 ? `${Math.round(percent * 10) / 10} %` : `${Math.round(percent)} %`;
}

/** For a cell of a table: no blanks, so that columns can be counted. */
const cell = (text: string): string => text.replace(' ', '');

export const usageCells = (resources: ResourcesView | null): readonly [cpu: string, memory: string] =>
  resources === null
    ? ['-', '-']
    : [cell(percentText(resources.cpu_percent)), cell(formatBytes(resources.memory_bytes))];

/** "CPU 0.3 %   Memory 41 MiB of 400 MiB soft   Files 23   Threads 11" */
export function usageText({ cpu_percent, memory_bytes, soft_memory_bytes: soft, ...counts }: ResourcesView): string {
  const { fds, threads, processes } = counts;
  const parts = [
    `CPU ${percentText(cpu_percent)}`,
    `Memory ${formatBytes(memory_bytes)}${soft === null ? '' : ` of ${formatBytes(soft)} soft`}`,
    ...(fds === null ? [] : [`Files ${fds}`]),
    `Threads ${threads}`,
    ...(processes > 1 ? [`Processes ${processes}`] : []),
  ];
  return parts.join('   ');
}

const HEADER = ['FROM', 'FOR', 'CPU', 'MEM', 'MAX MEM', 'FILES', 'THREADS', 'PROCESSES'] as const;

/** Oldest first, so that the newest stands where people look. */
export const historyTable = (newestFirst: readonly SampleView[]): string[] =>
  table(
    HEADER,
    newestFirst
      .toReversed()
      .map((sample) => [
        { text: localTime(sample.first_at) },
        { text: formatUptime(Date.parse(sample.last_at) - Date.parse(sample.first_at)).replace(' ', '') },
        { text: cell(percentText(sample.cpu_percent)) },
        { text: cell(formatBytes(sample.memory_bytes)) },
        { text: cell(formatBytes(sample.memory_max_bytes)) },
        { text: sample.fds === null ? '-' : String(sample.fds) },
        { text: String(sample.threads) },
        { text: String(sample.processes) },
      ]),
  );
