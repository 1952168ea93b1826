import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  ChallengeOrchestrator,
  type ChallengeOrchestratorOptions,
} from '../../../src/library/challenge-orchestrator.ts';
import type { ContainerHealthStatus } from '../../../src/library/container-options.ts';
import { type SessionInfo, SessionManager } from '../../../src/library/session-manager.ts';
import { type TestEngine, useEngine } from '../../support/engine.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { SICK, sicken } from './workbench.ts';

const engineFor = useEngine();

const CHALLENGE = {
  image: 'keepwell-test',
  command: ['sleep', '1000000'],
  network: 'none',
  ttl: '10m',
  healthcheck: { command: ['test', '!', '-e', SICK], period: '200ms', timeout: '10s', failure_threshold: 1 },
  restart: { backoff: { initial: '0s' }, limit: { max: 1 } },
} as const;

const HOPELESS = { ...CHALLENGE, healthcheck: { ...CHALLENGE.healthcheck, command: ['false'] } } as const;

/** With an owner that no other test has, and nothing left of it in the end. */
function open(engine: TestEngine, options: Partial<ChallengeOrchestratorOptions> = {}) {
  const challenges = new ChallengeOrchestrator({
    docker: engine.socketPath,
    owner: engine.newName(),
    templates: { web: CHALLENGE, hopeless: HOPELESS },
    ...options,
  });
  return { challenges, [Symbol.asyncDispose]: () => challenges.shutdown({ stopContainers: true }) };
}

async function containersOf(engine: TestEngine, owner: string): Promise<readonly string[]> {
  return (await engine.labelled(`keepwell.owner=${owner}`)).map(({ Id }) => Id);
}

test('twenty at once by five users with a quota of one are five, and fifteen are told why', async ({ skip }) => {
  const engine = engineFor(skip);
  await using opened = open(engine);
  const { challenges } = opened;
  const users = ['ann', 'bob', 'cem', 'dan', 'eve'];
  const spawns = users.flatMap((user) => Array.from({ length: 4 }, () => challenges.spawnChallenge(user, 'web')));
  const results = await Promise.allSettled(spawns);
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  expect(refused).toHaveLength(15);
  const hint = 'Use the existing one, or end it first with stopChallenge(sessionId).';
  for (const error of refused) expect(error).toMatchObject({ code: 'SESSION_QUOTA', hint });
  expect(await containersOf(engine, challenges.owner)).toHaveLength(5);
  for (const user of users) expect(challenges.sessions.listUserSessions(user)).toHaveLength(1);

  // Stopping is safe side by side and any number of times, also for what nobody knows.
  const [{ sessionId } = { sessionId: '' }] = challenges.sessions.listUserSessions('ann');
  const stops = [sessionId, sessionId, sessionId.slice(0, 8), 'nobody'].map((id) => challenges.stopChallenge(id));
  await Promise.all(stops);
  await challenges.stopChallenge(sessionId);
  expect(await containersOf(engine, challenges.owner)).toHaveLength(4);
  expect(challenges.sessions.getSession(sessionId)).toBeUndefined();
  expect(challenges.getContainerHealth(sessionId)).toMatchObject({
    healthy: false,
    reason: expect.stringContaining('over'),
  });
  await challenges.shutdown({ stopContainers: true });
  expect(await containersOf(engine, challenges.owner)).toEqual([]);
  await expect(challenges.spawnChallenge('ann', 'web')).rejects.toMatchObject({ code: 'SESSIONS_CLOSED' });
});

test('a challenge that falls ill is healed, its lease is kept, and the next orchestrator takes it over', async ({
  skip,
}) => {
  const engine = engineFor(skip);
  using dir = tempDir();
  const [owner, leases] = [engine.newName(), dir.at('leases.json')];
  const told: string[] = [];
  await using opened = open(engine, {
    owner,
    leases,
    onHealthChange: ({ userId }, { status }) => told.push(`${userId} ${status}`),
  });
  const first = opened.challenges;
  expect(() => open(engine, { owner })).toThrow(/shut it down first/);
  const session = await first.spawnChallenge('ann', 'web', { wait: 'healthy' });
  const { sessionId, containerId } = session;
  expect(session).toMatchObject({ userId: 'ann', challengeId: 'web', host: '127.0.0.1', port: null });
  expect(first.getContainerHealth(containerId)).toMatchObject({ status: 'healthy', healthy: true, containerId });

  await sicken(engine, containerId);
  await waitFor('the illness', () => told.includes('ann starting'));
  await waitFor('its recovery', () => first.getContainerHealth(sessionId).healthy);
  const { expiresAt } = await first.extend(sessionId, 600_000);
  expect(expiresAt.getTime() - session.expiresAt.getTime()).toBe(600_000);
  await first.shutdown();
  expect(readFileSync(leases, 'utf8')).toContain(sessionId);
  expect(await containersOf(engine, owner)).toEqual([containerId]);

  await using reopened = open(engine, { owner, leases });
  const second = reopened.challenges;
  await waitFor('the take-over', () => second.getContainerHealth(sessionId).healthy);
  const [taken] = second.sessions.listUserSessions('ann');
  expect(taken).toMatchObject({ sessionId, containerId, healthStatus: 'healthy' });
  expect(Math.abs((taken?.expiresAt.getTime() ?? 0) - expiresAt.getTime())).toBeLessThan(2_000);
  await expect(second.spawnChallenge('ann', 'web')).rejects.toMatchObject({ code: 'SESSION_QUOTA' });
  await second.shutdown({ stopContainers: true });
  expect(await containersOf(engine, owner)).toEqual([]);
});

test('what cannot be healed is cleared away, and its last health is written first', async ({ skip }) => {
  const engine = engineFor(skip);
  const written: string[] = [];
  class Ledger extends SessionManager {
    override saveSession(session: SessionInfo): void {
      written.push('saved');
      void super.saveSession(session);
    }
    /** Slow, and it fails: nobody waits for it. */
    override async updateSessionHealth(id: string, health: ContainerHealthStatus): Promise<void> {
      written.push(health.status);
      await super.updateSessionHealth(id, health);
      throw new Error('the database is away');
    }
    override removeSession(id: string): void {
      written.push('removed');
      void super.removeSession(id);
    }
  }
  const ends: string[] = [];
  await using opened = open(engine, {
    sessions: new Ledger(),
    onSessionEnd: (_, { reason, why }) => ends.push(`${reason}: ${why}`),
  });
  const { challenges } = opened;
  const { sessionId } = await challenges.spawnChallenge('ann', 'hopeless');
  await waitFor('its end', () => written.includes('removed'));
  expect(written[0]).toBe('saved');
  expect(written.slice(-2)).toEqual(['unhealthy', 'removed']);
  expect(ends).toEqual([expect.stringMatching(/^gave-up: health check failed/)]);
  expect(challenges.sessions.getSession(sessionId)).toBeUndefined();
  expect(await containersOf(engine, challenges.owner)).toEqual([]);
});

test('an orchestrator whose sessions are all over leaves no network behind', async ({ skip }) => {
  const engine = engineFor(skip);
  await using opened = open(engine, { templates: { web: { ...CHALLENGE, network: 'isolated' } } });
  const { challenges } = opened;
  const networks = async () => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`keepwell.owner=${challenges.owner}`] }));
    return JSON.parse(await engine.call('GET', `/networks?filters=${filters}`)) as readonly unknown[];
  };
  const { sessionId } = await challenges.spawnChallenge('ann', 'web');
  expect(await networks()).toHaveLength(1);
  await challenges.stopChallenge(sessionId);
  await challenges.shutdown();
  expect(await networks()).toEqual([]);
});

test('without an Engine a spawn says what to do and leaves nothing, and bad templates are refused at once', async () => {
  using dir = tempDir();
  const options = { docker: dir.at('docker.sock'), owner: `test-${process.pid}` };
  const challenges = new ChallengeOrchestrator({ ...options, templates: { web: CHALLENGE } });
  await expect(challenges.spawnChallenge('ann', 'web')).rejects.toMatchObject({
    code: 'ENGINE_UNREACHABLE',
    message: expect.stringContaining('docker.sock'),
  });
  await expect(challenges.spawnChallenge('ann', 'wob')).rejects.toMatchObject({
    code: 'NO_SUCH_TEMPLATE',
    hint: expect.stringContaining('when the ChallengeOrchestrator is made'),
  });
  expect(challenges.sessions.listSessions()).toEqual([]);
  expect(challenges.getContainerHealth('nobody')).toMatchObject({ status: 'unknown', healthy: false });
  await challenges.shutdown();
  const bad = { web: { ...CHALLENGE, imagee: 'x' } };
  expect(() => new ChallengeOrchestrator({ ...options, templates: bad })).toThrow(/imagee/);
  expect(() => new ChallengeOrchestrator({ ...options, owner: 'a b', templates: { web: CHALLENGE } })).toThrow(/owner/);
  expect(() => new ChallengeOrchestrator(options)).toThrow(/templates/);
});
