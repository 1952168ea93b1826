/** Two daemons that share their memory in one PostgreSQL, from outside; and that a daemon alone loads nothing of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StatusView } from '../../src/supervision/rules/views.ts';
import { freePort } from '../support/free-port.ts';
import { PASSWORD, type PrivatePostgres, startPostgres } from '../support/postgres.ts';
import { type CliResult, TestProject } from '../support/project.ts';
import { missing } from '../support/real-servers.ts';
import { waitFor } from '../support/wait-for.ts';

/** The file of the bundle that speaks to PostgreSQL: its own lock is named in no other. */
const PARTS = readdirSync('dist/bin').filter(
  (name) => name.endsWith('.cjs') && readFileSync(`dist/bin/${name}`, 'utf8').includes('pg_try_advisory_lock'),
);

test('what speaks to the database is in parts of its own, and a daemon without store.fleet loads none of them', async () => {
  expect(PARTS).toHaveLength(1);
  await using project = new TestProject('components:\n  api: { process: { command: [sleep, "1000"] } }\n');
  const hook = project.write(
    'hook.cjs',
    `const fs = require('node:fs'), Module = require('node:module'), load = Module._load;
Module._load = function (request, ...rest) { fs.appendFileSync(${JSON.stringify(project.path('loaded'))}, request + '\\n'); return load.call(this, request, ...rest); };`,
  );
  await project.cliWith({ NODE_OPTIONS: `--require ${hook}`, NODE_DISABLE_COMPILE_CACHE: '1' }, 'up');
  await project.cliWith({ NODE_OPTIONS: `--require ${hook}`, NODE_DISABLE_COMPILE_CACHE: '1' }, 'status');
  await project.cli('down');
  const loaded = project.read('loaded').split('\n');
  expect(loaded.some((path) => path.includes('sqlite'))).toBe(true); // the daemon was looked at, too
  expect(loaded.filter((path) => PARTS.some((part) => path.endsWith(part)))).toEqual([]);
});

describe.skipIf(missing('PostgreSQL') !== null)('two daemons that share their memory', { timeout: 300_000 }, () => {
  let postgres: PrivatePostgres;
  const told: string[] = [];
  const people = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      const body = JSON.parse(text) as { action?: string; alerts?: { state: string }[] };
      told.push(
        ...(body.action === undefined ? (body.alerts ?? []).map(({ state }) => `alert ${state}`) : [body.action]),
      );
      response.end('{"url": "https://tracker.example/1"}');
    });
  });
  beforeAll(async () => {
    postgres = await startPostgres('scram-sha-256');
    await new Promise<void>((done) => people.listen(0, '127.0.0.1', done));
  }, 120_000);
  afterAll(async () => {
    people.closeAllConnections();
    people.close();
    await postgres?.[Symbol.asyncDispose]();
  });

  const config = (name: string) => `name: ${name}
components:
  api: { process: { command: [sleep, "1000"] } }
  broken: { process: { command: [sh, -c, "echo no luck >&2; exit 7"] }, restart: { limit: { max: 3 }, backoff: { initial: 10ms } } }
store: { fleet: "${postgres.url.replace(PASSWORD, `\${FLEET_PASSWORD}`)}" }
tickets: { trackers: [{ webhook: { url: "http://127.0.0.1:${(people.address() as AddressInfo).port}/tickets" } }] }
alerts: { channels: [{ webhook: { url: "http://127.0.0.1:${(people.address() as AddressInfo).port}/alerts" } }] }
`;
  const opened = (name: string) => new TestProject(config(name), { FLEET_PASSWORD: PASSWORD });
  const json = <T>({ code, stdout, stderr }: CliResult): T => {
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as T;
  };

  interface Shared {
    readonly incidents: readonly {
      readonly hosts: readonly string[];
      readonly count: number;
      readonly ticket: { address: string } | null;
    }[];
  }

  test('the same crash on both is one incident with one ticket and one alert; --fleet shows both hosts; the password is nowhere', async () => {
    await using one = opened('one');
    await using two = opened('two');
    await Promise.all([one, two].map((project) => project.cli('up', '--no-wait')));
    for (const project of [one, two]) await project.until('broken', 'given up', ({ state }) => state === 'gave-up');
    const { incidents } = await waitFor('one incident of both, with its ticket', async () => {
      const found = json<Shared>(await one.cli('incidents', '--fleet', '-o', 'json'));
      const [first] = found.incidents;
      return first?.hosts.length === 2 && first.count === 8 && first.ticket?.address ? found : null;
    });
    expect(incidents).toHaveLength(1);
    expect(incidents[0]!.hosts.map((host) => host.split('@')[0])).toEqual(['one', 'two']);
    expect(incidents[0]!.ticket!.address).toBe('https://tracker.example/1');
    await waitFor('the alert', () => told.includes('alert raised'));

    const status = await waitFor('both in the status', async () => {
      const { hosts } = json<{ hosts: { host: string; status: StatusView | null }[] }>(
        await two.cli('status', '--fleet', '-o', 'json'),
      );
      const isWhole = hosts.every((each) => each.status?.components.some(({ state }) => state === 'gave-up'));
      return hosts.length === 2 && isWhole ? hosts : null;
    });
    expect(status.map(({ status: view }) => view!.components.map(({ name, state }) => `${name} ${state}`))).toEqual([
      ...[
        ['api running', 'broken gave-up'],
        ['api running', 'broken gave-up'],
      ],
    ]);
    expect((await one.cli('incidents', '--fleet')).stdout).toMatch(/one@\S+, two@\S+ +broken: no luck/);
    const crashes = await waitFor('all crashes', async () => {
      const found = json<{ crashes: { host: string }[] }>(await one.cli('crashes', '--fleet', '-o', 'json'));
      return found.crashes.length === 8 ? found.crashes : null;
    });
    expect(new Set(crashes.map(({ host }) => host.split('@')[0]))).toEqual(new Set(['one', 'two']));
    expect(json<StatusView>(await one.cli('status', '-o', 'json')).daemon.fleet).toBe('ok');
    expect(told.filter((what) => what === 'create')).toHaveLength(1);
    expect(told.filter((what) => what === 'alert raised')).toHaveLength(1);

    const down = await two.cli('down');
    expect(down.code).toBe(0);
    const gone = await one.cli('status', '--fleet', '--exit-code');
    expect(gone.stdout).toMatch(/two@\S+ +- +no daemon/);
    const everything = [one, two].flatMap((project) => ['.keepwell/daemon.log'].map((file) => project.read(file)));
    for (const args of [['status', '--verbose'], ['status', '-o', 'json'], ['events'], ['validate', '-o', 'json']])
      everything.push((await one.cli(...args)).stdout);
    expect(everything.join('\n')).not.toContain(PASSWORD);
  });

  test('what is wrong with the database is said by status and by --fleet, and nothing else suffers', async () => {
    const nowhere = `postgres://keepwell:${PASSWORD}@127.0.0.1:${await freePort()}/postgres`;
    await using project = new TestProject(`components:
  api: { process: { command: [sleep, "1000"] } }
store: { fleet: "${nowhere}" }
`);
    expect((await project.cli('up')).code).toBe(0);
    const said = await waitFor(
      'status to say it',
      async () => /fleet: the fleet store has not answered since .*/.exec((await project.cli('status')).stdout)?.[0],
    );
    expect(said).not.toContain(PASSWORD);
    const wrong = (url: string) =>
      project.configure(`components:\n  api: { process: { command: [sleep, "1000"] } }\nstore: { fleet: "${url}" }\n`);
    const asked = async () => await project.cli('status', '--fleet');
    expect(await asked()).toMatchObject({ code: 1, stderr: expect.stringContaining('does not answer') });
    wrong(postgres.url.replace(PASSWORD, 'wrong'));
    expect(await asked()).toMatchObject({ code: 1, stderr: expect.stringContaining('does not let us in') });
    wrong(postgres.url.replace(/postgres$/, 'nothing'));
    expect(await asked()).toMatchObject({ code: 1, stderr: expect.stringContaining('has no such database') });
    wrong(`${postgres.url}?sslmode=require`);
    expect(await asked()).toMatchObject({ code: 1, stderr: expect.stringContaining('No safe connection') });
    wrong(postgres.url.replace('postgres://', 'mysql://'));
    const refused = await asked();
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('must begin with postgres://') });
    expect(refused.stderr).not.toContain(PASSWORD);
    expect((await project.cli('status')).stdout).toMatch(/api +running/);
  });
});
