import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/table.ts';
import type { WallMs } from '../../src/base/pure/ids.ts';
import { openCampaignBook } from '../../src/history/sqlite/experiments.ts';
import { Keepwell } from '../../src/index.ts';
import { useEngine } from '../support/engine.ts';
import { answerSchema, problemsWith } from '../support/openapi.ts';
import { TestProject } from '../support/project.ts';

const CONFIG = `telemetry: { prometheus: true }
alerts: { channels: [{ command: { command: ["true"] } }] }
agents: { types: { sleeper: { command: [sh, -c, 'exec sleep 1000', sleeper, "{task}"] } } }
components:
  api:
    process: { command: [sh, -c, 'echo "now serving"; exec sleep 1000'] }
    readiness: { log: "now serving" }
    liveness: { pid: {}, period: 200ms }
    heartbeat: { ping: true }
  worker:
    process: { command: [sh, -c, 'exit 7'] }
    restart: { limit: { max: 0 } }
`;

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

function ask(project: TestProject, method: string, path: string, body?: object): Promise<Reply> {
  const { socket } = JSON.parse(project.read('.keepwell/daemon.json')) as { socket: string };
  return new Promise((resolve, reject) => {
    const headers = {
      host: 'localhost',
      accept: 'application/json, text/plain',
      ...(body ? { 'content-type': 'application/json' } : {}),
    };
    const sent = request({ socketPath: socket, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: isText(response) ? text : JSON.parse(text) }),
      );
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

const isText = ({ headers }: IncomingMessage) => headers['content-type']?.startsWith('text/plain');

const QUERIES: Readonly<Record<string, string>> = {
  '/v1/wait': '?component=api&for=ready',
  '/v1/samples': '?component=api',
};
const BODIES: Readonly<Record<string, object>> = {
  '/v1/simulate-crash': { agent: 'sleeper', dry_run: true },
  '/v1/agents': { type: 'sleeper', task: 'T-1' },
  '/v1/agents/stop': { agent: 'T-1' },
  '/v1/start': { components: ['api'] },
  '/v1/stop': { components: ['api'] },
  '/v1/restart': { components: ['api'] },
  '/v1/incidents/1/silence': { for_ms: 60_000 },
};
const LAST: ReadonlySet<string> = new Set(['/v1/down', '/v1/handover']);
const isOfSessions = ({ path }: Route) => path.startsWith('/v1/sessions');
const isOfCampaigns = ({ path }: Route) => path.startsWith('/v1/campaigns');

const engineFor = useEngine();

test('every answer of a real daemon is as its OpenAPI document says', async () => {
  await using project = new TestProject(CONFIG);
  await project.cli('up');
  await project.until('worker', 'given up', ({ state }) => state === 'gave-up');
  await project.until('api', 'asked', ({ probes }) => probes.every(({ last }) => last !== null));
  const tried: string[] = [];
  const routes = ROUTES.filter((route) => !LAST.has(route.path) && !isOfSessions(route) && !isOfCampaigns(route));
  for (const route of routes) {
    const path = route.path
      .replace('{name}', route.path.includes('why') ? 'worker' : 'api')
      .replace(/\{(?:id|number)\}/, '1');
    const body = route.method === 'GET' ? undefined : (BODIES[path] ?? {});
    const reply = await ask(project, route.method, `${path}${QUERIES[path] ?? ''}`, body);
    expect(reply.status, `${route.method} ${path}: ${JSON.stringify(reply.body)}`).toBe(route.success);
    expect(problemsWith(answerSchema(route), reply.body), `${route.method} ${path}`).toEqual([]);
    tried.push(path);
  }
  expect(tried.length).toBe(routes.length);
  const down = ROUTES.find(({ path }) => path === '/v1/down')!;
  const reply = await ask(project, 'POST', '/v1/down', {});
  expect(problemsWith(answerSchema(down), reply.body)).toEqual([]);
});

test('and so is every answer about sessions', async ({ skip }) => {
  const config = 'sessions: { templates: { web: { image: keepwell-test, network: none, command: [sleep, "1000"] } } }';
  await using project = new TestProject(config, engineFor(skip).env);
  await project.ok('up');
  const untried = new Set(ROUTES.filter(isOfSessions));
  const answer = async (method: string, path: string, id: string, body?: object) => {
    const route = ROUTES.find((each) => each.method === method && each.path === path)!;
    const reply = await ask(project, method, path.replace('{id}', id), body);
    expect(reply.status, `${method} ${path}: ${JSON.stringify(reply.body)}`).toBe(route.success);
    expect(problemsWith(answerSchema(route), reply.body), `${method} ${path}`).toEqual([]);
    untried.delete(route);
    return reply.body;
  };
  const spawned = await answer('POST', '/v1/sessions', '', { template: 'web', user_id: 'ann' });
  const { session_id: id } = (spawned as { session: { session_id: string } }).session;
  await answer('GET', '/v1/sessions', id);
  await answer('GET', '/v1/sessions/{id}', id);
  await answer('POST', '/v1/sessions/{id}/extend', id, { by_ms: 60_000 });
  await answer('POST', '/v1/sessions/{id}/stop', id, {});
  expect([...untried]).toEqual([]);
});

test('and so is what it says of campaigns, which is what the command says', async () => {
  await using project = new TestProject(CONFIG);
  await project.cli('up');
  const book = await openCampaignBook(project.path('.keepwell/keepwell.db'));
  const head = { file: '/lab/n.yaml', source: '', composeFile: '/lab/c.yml', projectDir: '/lab' };
  const experiments = [{ name: 'a', service: 's' }];
  for (const name of ['night', 'night-2']) book.create({ ...head, uid: name, name, experiments }, Date.now() as WallMs);
  book.write(1, [{ kind: 'campaign', state: 'stopped', reason: 'no GPU' }], Date.now() as WallMs);
  book.close();
  const said = async (...args: string[]) => JSON.parse(await project.ok('campaign', ...args, '-o', 'json')) as unknown;
  const list = await ask(project, 'GET', '/v1/campaigns');
  // Nobody holds the second one: its process was killed.
  expect(list.body).toMatchObject({ campaigns: [{ campaign: 'night-2', state: 'interrupted' }, { state: 'stopped' }] });
  expect(list.body).toEqual(await said('list'));
  const one = await ask(project, 'GET', '/v1/campaigns/night');
  expect(one.body).toEqual(await said('show', 'night'));
  for (const [index, { body }] of [list, one].entries())
    expect(problemsWith(answerSchema(ROUTES.filter(isOfCampaigns)[index]!), body)).toEqual([]);
  await using keepwell = await Keepwell.connect({ cwd: project.dir });
  expect(await keepwell.campaigns()).toMatchObject([{ campaign: 'night-2' }, { campaign: 'night', total: 1 }]);
  expect(await keepwell.campaign('night')).toEqual(one.body);
  await expect(keepwell.campaign('nigth')).rejects.toMatchObject({ code: 'NO_SUCH_CAMPAIGN' });
});

test('the commands of the guide work as they are written', async () => {
  await using project = new TestProject(CONFIG);
  await project.cli('up');
  const guide = readFileSync('docs/guide/api.md', 'utf8');
  const commands = [...guide.matchAll(/^curl .*$/gm)].map(([line]) => line);
  expect(commands.length).toBeGreaterThan(4);
  for (const command of commands) {
    // A stream does not end by itself: its first second is enough.
    const line = / -N /.test(command) ? `timeout 1 ${command} || true` : command;
    const text = execFileSync('sh', ['-c', line], {
      cwd: project.dir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (/ -N /.test(command)) expect(text, command).toMatch(/^retry: \d+/);
    else expect(JSON.parse(text), command).not.toHaveProperty('error');
  }
});
