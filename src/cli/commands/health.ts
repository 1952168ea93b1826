/** keepwell health: asks the checks and says whether all is well. JSON always, unless a person asks for text. */

import { Option } from 'commander';
import { daemonHealth } from '../../api/client/daemon-health.ts';
import { errorView } from '../../base/pure/errors.ts';
import type { HealthQuery } from '../../checks/rules/plan.ts';
import type { CheckResult, CheckStatus, HealthReport } from '../../checks/spec.ts';
import { type CliCall, usage } from '../call.ts';
import type { Definition } from '../define.ts';
import { toAppError } from '../failure.ts';
import { Interrupted } from '../interrupt.ts';
import type { Brush, Paint } from '../print/colour.ts';
import { oneLine, sanitise } from '../print/sanitise.ts';
import { table } from '../print/table.ts';
import { showAgain } from '../screen.ts';

interface Options {
  readonly check?: readonly string[];
  readonly withDeps?: true;
  readonly watch?: true;
  readonly local?: true;
}

const WATCH_MS = 5_000;
const EXIT_UNHEALTHY = 1;

export const health: Definition<Options> = {
  usage: 'health [CHECK...]',
  group: 'See what happened:',
  summary: 'run the checks: is it healthy? JSON, exit 0 or 1',
  description:
    'Runs the "checks" of the configuration in dependency order and skips those whose dependencies failed. Without ' +
    'checks, every component is checked. The daemon runs them if there is one, otherwise this command does. ' +
    'The exit code is 0 when no check failed, 1 when one did, 2 when there is no such check. ' +
    'See "keepwell status" for the state of the components.',
  jsonByDefault: true,
  options: [
    new Option('--check <CHECK>', 'only this check; the same as CHECK; repeatable').argParser(
      (value: string, before: readonly string[] | undefined) => [...(before ?? []), value],
    ),
    new Option('--with-deps', 'with --check: also run the checks it needs, and skip it if one fails'),
    new Option('-w, --watch', 'repeat every five seconds until Ctrl-C'),
    new Option('--local', 'run the checks in this process even if there is a daemon'),
  ],
  examples: [
    ['keepwell health', 'everything, as JSON'],
    ['keepwell health -o text', 'for people'],
    ['keepwell health sandbox | jq -r .checks.sandbox.status', 'one of them, for scripts'],
    ['keepwell health > /dev/null && ./deploy.sh', 'by the exit code'],
  ],
  handler: async (call, names, { check = [], withDeps = false, watch = false, local = false }) => {
    if (local && call.host !== null)
      throw usage(`--local runs the checks on this machine, and ${call.host} is another one.`);
    const query = { checks: [...names, ...check], withDeps };
    try {
      if (watch) return await showAgain(call, WATCH_MS, async () => frame(call, await read(call, query, local)));
      const report = await read(call, query, local);
      call.printJson(report);
      call.print(...lines(call, report));
      return report.status === 'healthy' ? 0 : EXIT_UNHEALTHY;
    } catch (error) {
      // Whoever reads stdout gets a report in every case: one that could not be made is not healthy.
      if (!(error instanceof Interrupted)) call.printJson(noReport(error));
      throw error;
    }
  },
};

const lines = ({ paint, columns }: CliCall, report: HealthReport): readonly string[] =>
  healthLines(report, paint, columns);

const frame = (call: CliCall, value: HealthReport) => ({ value, lines: lines(call, value) });

const noReport = (error: unknown) => ({
  status: 'unhealthy',
  timestamp: new Date().toISOString(),
  checks: {},
  ...errorView(toAppError(error)),
});

async function read(call: CliCall, query: HealthQuery, isLocal: boolean): Promise<HealthReport> {
  if (!isLocal) {
    const answer = await daemonHealth(call.client, query);
    if ('report' in answer) return answer.report;
    if (answer.why !== null) call.note(`${answer.why}; asking from here`);
  }
  const { localHealth } = await import('../../daemon/health-report.ts');
  const { project, world, signal } = call;
  return await localHealth({ project, env: world.env, query, signal, whose: 'this command', hosted: false });
}

// A report on all checks, for people.

const HEADER = ['CHECK', 'STATUS', 'MESSAGE'] as const;

export function healthLines({ status, checks }: HealthReport, paint: Paint, columns?: number): string[] {
  const rows = Object.entries(checks);
  const brush = status === 'healthy' ? paint.green : paint.red;
  return [...(rows.length > 0 ? healthTable(rows, paint, columns) : []), `${brush(status)}: ${counted(rows)}`];
}

const healthTable = (rows: readonly [string, CheckResult][], paint: Paint, columns?: number): string[] =>
  table(
    HEADER,
    rows.map(([name, { status, message }]) => [
      { text: sanitise(name), brush: paint.bold },
      { text: status, brush: statusBrush(paint, status) },
      { text: oneLine(message) },
    ]),
    columns,
  );

function statusBrush(paint: Paint, status: CheckStatus): Brush {
  if (status === 'ok') return paint.green;
  return status === 'failed' ? paint.red : paint.yellow;
}

/** "1 failed, 2 skipped, 1 ok" */
function counted(rows: readonly [string, CheckResult][]): string {
  const counts = (['failed', 'skipped', 'ok'] as const).flatMap((status) => {
    const count = rows.filter(([, result]) => result.status === status).length;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  return counts.join(', ') || 'there is nothing to check';
}
