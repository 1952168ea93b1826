import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { RunId, WallMs } from '../../../src/base/pure/ids.ts';
import { agentRecord, NOON } from '../../support/agent-samples.ts';
import { crashOf, exited } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { query } from './inspect.ts';
import { openStore } from './open-store.ts';

const CRASH_COLUMNS =
  'crash_id,agent_pid,agent_type,task_id,crashed_at,error_type,error_message,stack_trace,respawned,bug_reported,bug_number';
const CHECK_COLUMNS =
  'check_id,timestamp,status,active_agents,crashed_agents,zombie_processes,orchestrator_responsive,last_poll_age_seconds,actions_taken,bugs_reported';

test('health_checks and agent_crashes have exactly the columns that people query', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  using opened = await openStore(path);
  const { subject: _, ...crash } = crashOf('api');
  opened.store.commit(
    { agents: [agentRecord()] },
    {
      crash: {
        ...crash,
        ...{ subject: { kind: 'agent', name: 'architect' }, agentType: 'architect', taskId: 'SPEC-111', pid: 2194 },
        ...{ run: 'a~1' as RunId, at: NOON as WallMs, exit: exited(1), rule: 'backoff', stack: ['one', 'two'] },
      },
    },
    {
      healthCheck: {
        ...{ at: NOON as WallMs, status: 'critical', activeAgents: 1, crashedAgents: 1, zombieProcesses: 2 },
        ...{ orchestratorResponsive: false, lastPollAgeSeconds: 5_340, actionsTaken: ['a', 'b'], bugsReported: [3, 4] },
      },
    },
  );
  const [shown] = await query(path, 'SELECT * FROM agent_crashes');
  expect(Object.keys(shown!).join()).toBe(CRASH_COLUMNS);
  expect(plain(shown)).toMatchObject({
    ...{ agent_pid: 2194, agent_type: 'architect', task_id: 'SPEC-111', crashed_at: '2025-12-29 09:20:00.000' },
    ...{ stack_trace: 'one\ntwo', respawned: 1, bug_reported: 0, bug_number: null },
  });
  const [pass] = await query(path, "SELECT * FROM health_checks WHERE timestamp > datetime('2025-12-29 09:19:59')");
  expect(Object.keys(pass!).join()).toBe(CHECK_COLUMNS);
  expect(plain(pass)).toMatchObject({
    ...{ timestamp: '2025-12-29 09:20:00.000', orchestrator_responsive: 0, last_poll_age_seconds: 5_340 },
    ...{ actions_taken: '["a","b"]', bugs_reported: '[3,4]', zombie_processes: 2 },
  });
});

test('the sqlite3 of the system reads both', async ({ skip }) => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  using opened = await openStore(path);
  opened.store.commit({ agents: [agentRecord()] });
  try {
    execFileSync('sqlite3', ['--version']);
  } catch {
    skip('there is no sqlite3 here');
  }
  const sql = 'SELECT count(*) FROM agent_crashes; SELECT count(*) FROM health_checks; SELECT task_id FROM agents';
  expect(execFileSync('sqlite3', ['-readonly', path, sql], { encoding: 'utf8' })).toBe('0\n0\nSPEC-111\n');
});

const plain = (row: Readonly<Record<string, unknown>> | undefined) =>
  Object.fromEntries(
    Object.entries(row ?? {}).map(([key, value]) => [key, typeof value === 'bigint' ? Number(value) : value]),
  );
