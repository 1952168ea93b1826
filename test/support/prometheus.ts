/** Debian's Prometheus. Where it is not installed, the tests that need it are skipped and say so. */
import { spawnSync } from 'node:child_process';

const has = (command: string): boolean => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** Null: it is there. */
export const promtoolMissing: string | null =
  has('promtool') && has('prometheus') ? null : 'the package prometheus is not installed';

if (promtoolMissing !== null) {
  const said = `tests with a real Prometheus: ${promtoolMissing}`;
  if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw new Error(said);
  console.warn(`SKIPPED: ${said}`);
}
