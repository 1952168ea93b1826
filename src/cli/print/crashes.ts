/** The list of crashes, newest first. */
import { describeExit } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { CrashView } from '../../supervision/rules/views.ts';
import type { Paint } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { table } from './table.ts';
import { localTime } from './time.ts';

const HEADER = ['ID', 'WHEN', 'NAME', 'UPTIME', 'EXIT', 'DECISION'] as const;

export const crashTable = (crashes: readonly CrashView[], paint: Paint, columns?: number): string[] =>
  table(
    HEADER,
    crashes.map((crash) => [
      { text: String(crash.id) },
      { text: localTime(crash.at) },
      { text: sanitise(crash.subject.name), brush: paint.bold },
      { text: formatDuration(crash.uptime_ms) },
      { text: oneLine(cause(crash)), brush: paint.red },
      { text: oneLine(crash.decision) },
    ]),
    columns,
  );

/** The error it died of says more than its exit code. */
const cause = ({ error_type, exit }: CrashView): string =>
  error_type === null ? describeExit(exit) : `${error_type} (${describeExit(exit)})`;

const oneLine = (text: string): string => sanitise(text.replaceAll('\n', ' '));
