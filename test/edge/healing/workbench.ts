/** Containers whose health a test decides. */
import type { TestEngine } from '../../support/engine.ts';

/** The Engine waits so long before the first check, too. */
const INTERVAL_NS = 200_000_000;
const TIMEOUT_NS = 10_000_000_000;

/** Sick as long as there is this file; it lies in memory and is gone after a restart. */
export const SICK = '/tmp/sick';
export const UNLESS_SICK = ['CMD', 'test', '!', '-e', SICK];
export const NEVER_WELL = ['CMD-SHELL', 'echo no database; exit 1'];

/** Returns its full id. It obeys SIGTERM. `check` null: it has no health check. */
export async function runWith(engine: TestEngine, check: readonly string[] | null): Promise<string> {
  const name = engine.newName();
  const made = await engine.call('POST', `/containers/create?name=${name}`, {
    Image: 'keepwell-test',
    Cmd: ['sleep', '1000000'],
    ...(check === null
      ? {}
      : { Healthcheck: { Test: check, Interval: INTERVAL_NS, Timeout: TIMEOUT_NS, Retries: 1, StartPeriod: 0 } }),
    HostConfig: { NetworkMode: 'none', Init: true, Tmpfs: { '/tmp': '' } },
  });
  await engine.act(name, 'start');
  return (JSON.parse(made) as { Id: string }).Id;
}

export async function sicken(engine: TestEngine, id: string): Promise<void> {
  const made = await engine.call('POST', `/containers/${id}/exec`, { Cmd: ['touch', SICK] });
  const { Id } = JSON.parse(made) as { Id: string };
  await engine.call('POST', `/exec/${Id}/start`, { Detach: true });
}

export async function startedAt(engine: TestEngine, id: string): Promise<string> {
  const { State } = JSON.parse(await engine.call('GET', `/containers/${id}/json`)) as { State: { StartedAt: string } };
  return State.StartedAt;
}
