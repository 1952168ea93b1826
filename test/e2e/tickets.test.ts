import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { AgentsView } from '../../src/agents/rules/views.ts';
import type { TicketsView } from '../../src/incidents/tickets/rules/view.ts';
import { Keepwell } from '../../src/index.ts';
import { GithubServer } from '../support/github-server.ts';
import { TestProject } from '../support/project.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const TOKEN = 'token-that-nobody-may-see';

/** Dies like a Python program with a broken import, unless the file `mended` is there. */
const WORKER = `#!/bin/sh
[ -e mended ] && exec sleep 1000
cat >&2 <<'END'
Traceback (most recent call last):
  File "app/skills.py", line 3, in <module>
    from app.names import SkillNames
ImportError: cannot import name 'SkillNames' from 'app.names' (app/names.py)
END
exit 1
`;

const config = (trackers: string): string => `
components:
  worker:
    process: { command: [./worker.sh] }
    restart: { policy: always, backoff: { initial: 50ms, max: 50ms }, limit: { max: 3, within: 1h, retry: never } }
tickets: { trackers: [${trackers}] }
`;

async function tickets(project: TestProject, ...args: readonly string[]): Promise<TicketsView['tickets']> {
  return (JSON.parse(await project.ok('-o', 'json', 'tickets', 'list', ...args)) as TicketsView).tickets;
}

const filesIn = (dir: string): readonly string[] =>
  (existsSync(dir) ? readdirSync(dir) : []).filter((name) => name.endsWith('.md'));

describe.concurrent('a component that crashes four times', () => {
  test('has one ticket, with its cause and a file, and nothing of it is lost or doubled later', async () => {
    await using project = new TestProject(config('{ local: { dir: tickets } }'));
    project.write('worker.sh', WORKER);
    await project.cli('up');
    await project.until('worker', 'given up', ({ state }) => state === 'gave-up');
    const [ticket, ...more] = await tickets(project);
    expect(more).toEqual([]);
    expect(ticket).toMatchObject({
      ...{ number: 'BUG-001', state: 'open', count: 4, priority: 'high', category: 'crash', error_type: 'ImportError' },
      title: "worker: ImportError: cannot import name 'SkillNames' from 'app.names' (app/names.py)",
      root_cause: expect.stringContaining('SkillNames'),
      related_files: expect.arrayContaining(['app/names.py']),
      reproduction_steps: expect.arrayContaining(['keepwell start worker']),
    });
    const file = 'tickets/BUG-001-worker-importerror-cannot-import-name-skillnames.md';
    await waitFor('the file to say four', () => project.read(file).includes('| Count | 4 |'));
    expect(filesIn(project.path('tickets'))).toHaveLength(1);
    expect((await project.crashes()).map((crash) => crash.ticket)).toContain('BUG-001');

    // Mended, closed by hand, and broken again: the same ticket.
    project.write('mended', '');
    await project.ok('restart', 'worker');
    await waitFor('the recovery to be noted', () => project.read(file).includes('Recovered, as seen'));
    await project.ok('tickets', 'close', 'bug-1');
    expect(await tickets(project)).toEqual([]);
    await waitFor('the file to say closed', () => project.read(file).includes('| State | closed'));
    rmSync(project.path('mended'));
    await project.cli('restart', 'worker'); // it fails again
    const again = await waitFor('it to be open again', async () => (await tickets(project))[0]);
    expect(again.number).toBe('BUG-001');
    await waitFor('the file to say open', () => project.read(file).includes('| State | open |'));
    expect(filesIn(project.path('tickets'))).toHaveLength(1);

    // Without a daemon the records answer.
    await project.ok('down');
    const offline = await project.cli('tickets', 'show', '1');
    expect(offline).toMatchObject({ code: 0, stdout: expect.stringContaining('BUG-001 worker: ImportError') });
    expect(offline.stderr).toContain('this is what the records say');
  });
});

describe.concurrent('thirty tasks of agents with one broken import', () => {
  const tasks = Array.from({ length: 30 }, (_, n) => `TASK-${n + 1}`);

  test('are one incident and one issue that lists them, although each of them is given up', async () => {
    await using server = await GithubServer.open();
    await using project = new TestProject(
      `
agents: { max_respawns: 0, types: { architect: { command: [./worker.sh, "{task}"] } } }
tickets:
  rate_limit: { per: 1h, max: 1, by: type }
  trackers: [{ github: { repo: acme/app, token: "\${GITHUB_TOKEN}", url: "${server.url}" } }, { local: { dir: tickets } }]
`,
      { GITHUB_TOKEN: TOKEN },
    );
    project.write('worker.sh', WORKER);
    await project.ok('up');
    await using keepwell = await Keepwell.connect({ cwd: project.dir });
    for (const task of tasks) await keepwell.spawn('architect', task);
    await waitFor('all to be given up', async () => {
      const { agents } = JSON.parse(await project.ok('-o', 'json', 'agents', 'list', '--all')) as AgentsView;
      return agents.filter(({ state }) => state === 'gave-up').length === tasks.length;
    });
    const [ticket, ...more] = await waitFor('the issue', async () => {
      const all = await tickets(project);
      return Object.values(all[0]?.deliveries ?? {}).every(({ state }) => state === 'delivered') ? all : null;
    });
    expect(more).toEqual([]);
    expect([...ticket!.tasks].sort()).toEqual([...tasks].sort());
    expect(ticket).toMatchObject({ number: 'BUG-001', count: 30, subjects: [{ kind: 'agent', name: 'architect' }] });
    expect(await keepwell.incidents({ state: 'all' })).toMatchObject([{ count: 30, ticket: 'BUG-001' }]);
    expect(server.issues).toHaveLength(1);
    const [file, ...others] = filesIn(project.path('tickets'));
    expect(others).toEqual([]);
    for (const task of tasks) expect(project.read(`tickets/${file}`)).toContain(`\`${task}\``);
    const shown = await project.ok('incidents');
    for (const task of tasks) expect(shown).toContain(task);
    // Trackers get to know of those who came later within a minute or so, in one note.
    const named = () => tasks.filter((task) => JSON.stringify(server.issues[0]).includes(task));
    await waitFor('all tasks to be named on GitHub', () => named().length === tasks.length);
    expect(server.issues[0]?.comments.length).toBeLessThanOrEqual(3);
    expect(server.issues).toHaveLength(1);
  });
});

describe.concurrent('a daemon that is killed', () => {
  test.each(['step.after-commit@9', 'ticket.before-call', 'ticket.after-call'])(
    'at %s leaves one issue in the end, and the token nowhere',
    async (failpoint) => {
      await using server = await GithubServer.open();
      const tracker = `{ github: { repo: acme/app, token: "\${GITHUB_TOKEN}", url: "${server.url}" } }`;
      await using project = new TestProject(config(tracker), { GITHUB_TOKEN: TOKEN });
      project.write('worker.sh', WORKER);
      const [name, nth] = failpoint.split('@');
      const crash = `${name}=crash${nth === undefined ? '' : `@${nth}`}`;
      const first = project.start(['daemon'], { KEEPWELL_FAILPOINTS: crash });
      await new Promise((resolve) => first.once('exit', resolve));
      project.start(['daemon']);
      await project.answered();
      await project.until('worker', 'given up', ({ state }) => state === 'gave-up');
      const ticket = await waitFor('the address of the issue', async () => {
        const [one] = await tickets(project);
        return one?.trackers['github'] === undefined ? null : one;
      });
      expect(ticket).toMatchObject({ number: 'BUG-001', count: 4 });
      expect(server.issues).toHaveLength(1);
      expect([...server.tokens]).toEqual([`Bearer ${TOKEN}`]);
      const everything = spawnSync('grep', ['-rl', '--', TOKEN, project.home], { encoding: 'utf8' }).stdout;
      expect(everything).toBe('');
    },
  );

  test('while a tracker never answers, components are looked after all the same', async () => {
    await using server = await GithubServer.open();
    server.faults = Array.from({ length: 100 }, () => ({ fault: 'hang' as const }));
    const tracker = `{ github: { repo: acme/app, token: "\${GITHUB_TOKEN}", url: "${server.url}", timeout: 1h } }`;
    await using project = new TestProject(config(`${tracker}, { local: {} }`), { GITHUB_TOKEN: TOKEN });
    project.write('worker.sh', WORKER);
    await project.cli('up');
    await project.until('worker', 'given up', ({ state }) => state === 'gave-up');
    await waitFor('the file', () => filesIn(project.path('tickets')).length === 1);
    project.write('mended', '');
    await project.ok('restart', 'worker');
    await project.until('worker', 'running', ({ state }) => state === 'running');
    await project.ok('down');
    expect(readFileSync(project.path('.keepwell/daemon.log'), 'utf8')).not.toContain(TOKEN);
  });
});

test.concurrent('a program in whose process components are kept can list, close and reopen tickets', async () => {
  using dir = tempDir();
  const worker = { process: { command: ['sh', '-c', 'exit 7'] }, restart: { limit: { max: 0 } } } as const;
  const config = { components: { worker }, tickets: { trackers: [{ local: { dir: dir.at('bugs') } }] } };
  await using keepwell = await Keepwell.open(config, { cwd: dir.path });
  const ticket = await waitFor('the ticket', async () => (await keepwell.tickets.list())[0]);
  expect(ticket).toMatchObject({ number: 'BUG-001', title: 'worker: exit code 7', state: 'open' });
  expect((await keepwell.tickets.close(1)).state).toBe('closed');
  expect(await keepwell.tickets.list()).toEqual([]);
  expect(await keepwell.tickets.list({ state: 'all' })).toHaveLength(1);
  expect((await keepwell.tickets.reopen('bug-1')).state).toBe('open');
  expect((await keepwell.tickets.get('BUG-001')).subject).toEqual({ kind: 'component', name: 'worker' });
  await expect(keepwell.tickets.get(9)).rejects.toMatchObject({ code: 'NO_SUCH_TICKET' });
  await waitFor('the file', () => filesIn(dir.at('bugs')).length === 1);
});

test.concurrent('of a port that is taken, the ticket says who has it', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await using _ = { [Symbol.asyncDispose]: async () => void holder.close() };
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  await using project = new TestProject(config('{ local: { dir: tickets } }'));
  const server = `exec "$NODE" -e 'require("http").createServer().listen(${port}, "127.0.0.1")'`;
  project.write('worker.sh', `#!/bin/sh\nNODE='${process.execPath}'\n${server}\n`);
  await project.cli('up');
  const [ticket] = await waitFor('the ticket', async () => {
    const found = await tickets(project);
    return found.length > 0 ? found : null;
  });
  expect(ticket?.root_cause).toMatch(new RegExp(`^port ${port} is in use by .* \\(pid ${process.pid}\\): `));
  await waitFor('its file', () => filesIn(project.path('tickets')).length === 1);
  expect(project.read(`tickets/${filesIn(project.path('tickets'))[0]}`)).toContain(`(pid ${process.pid})`);
});
