/** Probes in words: how they stand now, and what they had answered before a death. */
import { formatDuration } from '../../base/pure/format.ts';
import type { ProbeStretchView, ProbeView } from '../../supervision/rules/views.ts';
import { clockTime, relative } from './time.ts';

const MARKS = { pass: '✓', fail: '✗', inconclusive: '?' } as const;

/** "liveness http :8080/healthz ✓ 3 ms, 12 s ago" */
export function probeText({ role, question, last, failures, failure_threshold, skipped }: ProbeView, nowMs: number) {
  const what = `${role} ${question}`;
  if (last === null) return `${what} · not asked yet`;
  const when = relative(last.at, nowMs);
  const late = skipped > 0 ? `, ${skipped} skipped because the one before was still open` : '';
  if (last.outcome === 'pass') return `${what} ${MARKS.pass} ${formatDuration(last.duration_ms)}, ${when}${late}`;
  const times = last.outcome === 'fail' ? `, ${inARow(failures, failure_threshold)}` : ', does not count';
  return `${what} ${MARKS[last.outcome]} ${last.message}${times}, ${when}${late}`;
}

/** "2 of 3 failures in a row"; readiness may go on failing for long: "11 failures in a row" */
const inARow = (failures: number, threshold: number): string =>
  failures > threshold ? `${failures} failures in a row` : `${failures} of ${threshold} failures in a row`;

/** "03:04:05 to 03:04:25  liveness http :8080/healthz ✗ 3 times: HTTP 503" */
export function stretchText({ role, question, outcome, message, first_at, last_at, count, max_ms }: ProbeStretchView) {
  const when = count === 1 ? clockTime(first_at) : `${clockTime(first_at)} to ${clockTime(last_at)}`;
  const times = count === 1 ? 'once' : `${count} times`;
  const told = outcome === 'pass' ? `, at most ${formatDuration(Math.round(max_ms))}` : `: ${message}`;
  return `${when}  ${role} ${question} ${MARKS[outcome]} ${times}${told}`;
}
