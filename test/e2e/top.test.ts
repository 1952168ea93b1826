import { expect, test } from 'vitest';
import { ENTRY, TestProject } from '../support/project.ts';
import { TestTerminal } from '../support/terminal.ts';
import { waitFor } from '../support/wait-for.ts';

const CONFIG = `components:
  api: { process: { command: [sh, -c, "echo hello from api; exec sleep 1000"] } }
  web: { process: { command: [sleep, "1000"] }, depends_on: { api: started } }
  broken: { process: { command: [sh, -c, "echo no luck >&2; exit 7"] }, restart: { limit: { max: 1 }, backoff: { initial: 10ms } } }
`;
const TOP = [process.execPath, ENTRY, 'top'];

async function upProject(): Promise<TestProject> {
  const project = new TestProject(CONFIG);
  await project.cli('up', '--no-wait');
  await project.until('broken', 'given up', ({ state }) => state === 'gave-up');
  await project.until('web', 'running', ({ state }) => state === 'running');
  return project;
}

const isLive = (screen: string): boolean => screen.includes('● live') && screen.includes('web');

test('top shows what needs attention first, follows the keys, and restarts only after a yes that says what will happen', async () => {
  await using project = await upProject();
  const { pid } = await project.component('api');
  await using terminal = new TestTerminal(TOP, { cwd: project.dir, columns: 100, rows: 24 });
  const first = await terminal.until('the components', isLive);
  expect(first.indexOf('Needs attention')).toBeLessThan(first.indexOf('NAME'));
  expect(first).toMatch(/✗ broken +gave-up/);
  expect(first).toContain('>● api');
  terminal.type('j');
  await terminal.until('the second one chosen', (screen) => screen.includes('>● web'));
  terminal.type('/bro');
  await terminal.until('the filtered list', (screen) => screen.includes('>✗ broken') && !screen.includes('● web'));
  terminal.type('\rw');
  await terminal.until('why it died', (screen) => screen.includes('died: exit code 7') && screen.includes('no luck'));
  terminal.type('\u001b');
  await terminal.until('the pane closed', (screen) => !screen.includes('died: exit code 7'));
  terminal.type('\u001b');
  await terminal.until('all of them', (screen) => screen.includes('● web'));
  terminal.type('gl');
  await terminal.until('the log', (screen) => screen.includes('Log of api') && screen.includes('hello from api'));
  terminal.type('r');
  const sentence = `Restart api: ends pid ${pid} and starts it again; web depends on it? y/n`;
  await terminal.until('the question', (screen) => screen.includes(sentence));
  terminal.type('n');
  await terminal.until('no question', (screen) => !screen.includes('y/n'));
  expect((await project.component('api')).pid).toBe(pid);
  terminal.type('ry');
  await terminal.until('the request', (screen) => screen.includes('asked to restart api'));
  await project.until('api', 'restarted', (api) => api.state === 'running' && api.pid !== pid);
  terminal.type('q');
  expect(await terminal.ended()).toEqual({ code: 0, restored: true });
  expect(terminal.isAlternate).toBe(false);
});

test('top draws anew when the terminal changes its size, down to 20 columns and 5 rows', async () => {
  await using project = await upProject();
  await using terminal = new TestTerminal(TOP, { cwd: project.dir });
  await terminal.until('the components', isLive);
  terminal.resize(20, 5);
  const small = await terminal.until('five rows', (screen) => screen.split('\n').length === 5);
  expect(Math.max(...small.split('\n').map((line) => line.length))).toBeLessThanOrEqual(20);
  terminal.resize(120, 40);
  await terminal.until('forty rows', (screen) => screen.split('\n').length === 40 && screen.includes('What happened'));
  terminal.type('q');
  expect(await terminal.ended()).toEqual({ code: 0, restored: true });
});

test('top says that its data is old while the daemon is away, and catches up with the next one', async () => {
  await using project = await upProject();
  await using terminal = new TestTerminal(TOP, { cwd: project.dir });
  await terminal.until('the components', isLive);
  const [daemon, guardian] = [project.daemonPid()!, project.guardianPid()!];
  process.kill(guardian, 'SIGKILL');
  process.kill(daemon, 'SIGKILL');
  await terminal.until('that it is away', (screen) => /reconnecting, data is \d+ s old/.test(screen));
  terminal.type('x');
  await terminal.until('that nobody is there', (screen) => screen.includes('nobody is there to stop api'));
  await project.cli('up', '--no-wait');
  await terminal.until('it live again', (screen) => isLive(screen) && screen.includes('daemon  started'));
  terminal.type('q');
  expect(await terminal.ended()).toEqual({ code: 0, restored: true });
});

test('top without a daemon shows what the records say, and goes live when one begins', async () => {
  await using project = await upProject();
  await project.ok('down');
  await using terminal = new TestTerminal(TOP, { cwd: project.dir, columns: 100 });
  const offline = 'the daemon is not running; this is what the records say';
  const screen = await terminal.until('the records', (text) => text.includes(offline));
  expect(screen).toMatch(/○ api +stopped/);
  await project.cli('up', '--no-wait');
  await terminal.until('it live', isLive);
  terminal.type('\u0003');
  expect(await terminal.ended()).toEqual({ code: 0, restored: true });
});

test('every way out of top gives the terminal back as it was', async () => {
  await using project = await upProject();
  const ways = [
    { how: 'q', code: 0, leave: (terminal: TestTerminal) => terminal.type('q') },
    { how: 'Ctrl C', code: 0, leave: (terminal: TestTerminal) => terminal.type('\u0003') },
    ...(
      [
        ['SIGTERM', 143],
        ['SIGINT', 130],
        ['SIGHUP', -1],
      ] as const
    ).map(([signal, code]) => ({
      ...{ how: signal, code },
      leave: async (terminal: TestTerminal) => void process.kill(await terminal.pid(), signal),
    })),
  ];
  for (const { how, code, leave } of ways) {
    await using terminal = new TestTerminal(TOP, { cwd: project.dir });
    await terminal.until('the components', isLive);
    await leave(terminal);
    expect({ how, ...(await terminal.ended()) }).toEqual({ how, code, restored: true });
    expect(terminal.isAlternate).toBe(false);
    expect(terminal.output).toContain('\u001b[?25h');
  }
  await using hung = new TestTerminal(TOP, { cwd: project.dir });
  await hung.until('the components', isLive);
  hung.hangUp();
  expect((await hung.ended()).code).toBe(-1);
});

test('an error of our own is told on the terminal as it was before top', async () => {
  await using project = await upProject();
  const throwing = project.write(
    'throw.cjs',
    "process.on('SIGUSR2', () => { throw new Error('our own mistake'); });\n",
  );
  await using terminal = new TestTerminal([process.execPath, '-r', throwing, ENTRY, 'top'], { cwd: project.dir });
  await terminal.until('the components', isLive);
  process.kill(await terminal.pid(), 'SIGUSR2');
  expect(await terminal.ended()).toEqual({ code: 70, restored: true });
  expect(terminal.output.lastIndexOf('our own mistake')).toBeGreaterThan(terminal.output.lastIndexOf('\u001b[?1049l'));
});

test('Ctrl Z stops top with the terminal as it was, and fg brings the screen back', async () => {
  await using project = await upProject();
  const script = `stty -g > before; ${TOP.join(' ')}; stty -g > stopped; echo NOW STOPPED; read go; fg; stty -g > after`;
  await using terminal = new TestTerminal(['bash', '-m', '-c', script], { cwd: project.dir });
  await terminal.until('the components', isLive);
  terminal.type('\u001a');
  await waitFor('the shell to go on', () => Promise.resolve(terminal.output.includes('NOW STOPPED') || null));
  expect(terminal.isAlternate).toBe(false);
  expect(project.read('stopped')).toBe(project.read('before'));
  const seen = terminal.output.length;
  terminal.type('go\r');
  await waitFor('the screen to be drawn again', () =>
    Promise.resolve((terminal.isAlternate && terminal.output.slice(seen).includes('● live')) || null),
  );
  terminal.type('q');
  await terminal.ended();
  expect(terminal.isAlternate).toBe(false);
  expect(project.read('after')).toBe(project.read('before'));
});

test('with NO_COLOR top writes no colours, and the chosen row has a mark', async () => {
  await using project = await upProject();
  await using terminal = new TestTerminal(TOP, { cwd: project.dir, env: { NO_COLOR: '1' } });
  await terminal.until('the components', (screen) => isLive(screen) && screen.includes('>● api'));
  terminal.type('q');
  await terminal.ended();
  expect(terminal.output.match(/\u001b\[[1-9][0-9;]*m/g)).toBeNull();
});

test('top in a pipe says what to use there', async () => {
  await using project = new TestProject(CONFIG);
  const { code, stderr } = await project.cli('top');
  expect(code).toBe(2);
  expect(stderr).toContain('"top" needs a terminal. In a pipe or a script use "keepwell status"');
});

test('five hundred components fit into top, one page at a time', async () => {
  const names = Array.from({ length: 500 }, (_, at) => `c${String(at).padStart(3, '0')}`);
  const rows = names.map((name) => `  ${name}: { process: { command: [sleep, "1000"] } }`);
  await using project = new TestProject(`components:\n${rows.join('\n')}\n`);
  await project.cli('up', '--no-wait', 'c000');
  await using terminal = new TestTerminal(TOP, { cwd: project.dir });
  await terminal.until('the components', (screen) => screen.includes('● live') && screen.includes('c000'));
  terminal.type('G');
  await terminal.until('the last one', (screen) => /> *\S c499/.test(screen));
  terminal.type('q');
  expect((await terminal.ended()).code).toBe(0);
});
