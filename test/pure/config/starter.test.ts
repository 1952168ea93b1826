import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfigFromTexts } from '../../../src/config/load.ts';
import { type Folder, suggest } from '../../../src/config/starter/starter.ts';
import { MORE } from '../../../src/config/starter/write.ts';

type Files = Readonly<Record<string, string>>;

/** A value that is not text stands for a file that is there but cannot be read. */
const folder = (files: Readonly<Record<string, string | null>>, name = 'shop'): Folder => ({
  name,
  has: (path) => Object.hasOwn(files, path),
  read: (path) => files[path] ?? null,
});

const load = (text: string) =>
  loadConfigFromTexts({ files: [{ path: '/shop/keepwell.yaml', text }], dotenv: null, env: {} });

/** What Keepwell reads from what was suggested: name → command and variables. */
function read(files: Files) {
  const suggested = suggest(folder(files));
  const { components } = load(suggested.text);
  expect(components.map(({ name }) => name)).toEqual(suggested.components);
  return Object.fromEntries(
    components.map(({ name, driver, dependsOn, restart }) => [
      name,
      {
        ...(driver.kind === 'process'
          ? { command: driver.command, env: { ...driver.env }, files: driver.envFiles }
          : {}),
        dependsOn: { ...dependsOn },
        policy: restart.policy,
      },
    ]),
  );
}

const commands = (files: Files) =>
  Object.fromEntries(Object.entries(read(files)).map(([name, { command }]) => [name, command]));

const scripts = (all: Readonly<Record<string, string>>, more: object = {}): Files => ({
  'package.json': JSON.stringify({ name: 'x', scripts: all, ...more }),
});

const shell = (line: string) => ['/bin/sh', '-c', line];

describe('Procfile', () => {
  test('plain lines become lists, others keep their shell, and nothing in them is taken for a variable of ours', () => {
    expect(
      commands({
        Procfile: [
          '# what runs',
          'web: bundle exec puma -p $PORT -e ${RACK_ENV:-production}',
          'worker: node worker.js --name \'it is $5\' "and \\"that\\""',
          'pipe: tail -F log | grep -v "$$"',
        ].join('\n'),
      }),
    ).toEqual({
      web: shell('bundle exec puma -p $PORT -e ${RACK_ENV:-production}'),
      worker: ['node', 'worker.js', '--name', 'it is $5', 'and "that"'],
      pipe: shell('tail -F log | grep -v "$$"'),
    });
  });

  test('names are made valid, and stay different', () => {
    const text =
      'Web Server: a\nweb_server: b\nWEB-server: c\nweb-server: d\n1: e\ntrue: f\n-: g\nÜber.: h\nnull: i\r\n';
    expect(Object.keys(read({ Procfile: text })).sort()).toEqual(
      ['web-server', 'web_server', 'web-server-2', 'web-server-3', '1', 'true', 'component', 'ber', 'null'].sort(),
    );
    const long = 'x'.repeat(80);
    expect(suggest(folder({ Procfile: `${long}: a\n${long}: b` })).components).toEqual([
      'x'.repeat(63),
      `${'x'.repeat(61)}-2`,
    ]);
  });

  test('a release is a job that the others wait for', () => {
    expect(read({ Procfile: 'web: a\nrelease: ./migrate' })).toMatchObject({
      web: { dependsOn: { release: 'completed' }, policy: 'always' },
      release: { dependsOn: {}, policy: 'on-failure' },
    });
  });

  test('.env is handed over, and PORT is given to whoever uses it and has none', () => {
    const Procfile = 'web: a $PORT\nother: b\nadmin: c ${PORT}';
    expect(read({ Procfile, '.env': 'A=1' })).toMatchObject({
      web: { files: ['/shop/.env'], env: { PORT: '5000' } },
      other: { files: ['/shop/.env'], env: {} },
      admin: { env: { PORT: '5200' } },
    });
    expect(read({ Procfile, '.env': 'PORT=80' })).toMatchObject({ web: { env: {} } });
  });

  test('an .env that Keepwell could not read is left out, and it is said', () => {
    const { text } = suggest(folder({ Procfile: 'web: a', '.env': 'A=1\nnonsense' }));
    expect(load(text).components[0]?.driver.envFiles).toEqual([]);
    expect(text).toContain(
      '# Procfile: .env is not handed to the processes: Keepwell does not understand line 2 of it.',
    );
    expect(suggest(folder({ Procfile: 'web: a', '.env': null })).text).toContain('it cannot be read as text');
  });

  test('what cannot be used is named: lines, consoles, whole files', () => {
    const { text, components } = suggest(folder({ Procfile: 'web: a\nconsole: rails c\nnonsense\nempty:\n' }));
    expect(components).toEqual(['web']);
    expect(text).toContain('# Procfile: "console" was left out: it needs somebody at a keyboard.');
    expect(text).toContain('# Procfile: Line 3 was not understood: "nonsense".');
    expect(text).toContain('# Procfile: Line 4 was not understood: "empty:".');
    expect(suggest(folder({ Procfile: null })).text).toContain('# Procfile: It cannot be read as text.');
    expect(suggest(folder({ 'Procfile.dev': 'web: a' })).found).toMatchObject([{ file: 'Procfile.dev', used: true }]);
  });
});

describe('package.json', () => {
  test.each<[string, Record<string, string>, Record<string, readonly string[]>]>([
    ['node alone is started directly', { start: 'node server.js' }, { app: ['node', 'server.js'] }],
    ['anything else through npm', { start: 'next start' }, { app: ['npm', 'run', 'start'] }],
    ['what needs a shell too', { start: 'node a.js && node b.js' }, { app: ['npm', 'run', 'start'] }],
    ['and what has something before it', { start: 'node a.js', prestart: 'x' }, { app: ['npm', 'run', 'start'] }],
    [
      'the program and its worker, but not the same program in another manner',
      { dev: 'nodemon', build: 'tsc', test: 'jest', start: 'x', 'start:debug': 'y', worker: 'z', 'worker:dev': 'w' },
      { app: ['npm', 'run', 'start'], worker: ['npm', 'run', 'worker'] },
    ],
    [
      'parts of a program',
      { 'start:api': 'a', 'start:web': 'b', 'test:api': 'c', 'worker:mail': 'd' },
      {
        api: ['npm', 'run', 'start:api'],
        web: ['npm', 'run', 'start:web'],
        'worker-mail': ['npm', 'run', 'worker:mail'],
      },
    ],
    [
      'the parts instead of what starts them all',
      { start: 'concurrently npm:start:*', 'start:api': 'a', 'start:web': 'b' },
      { api: ['npm', 'run', 'start:api'], web: ['npm', 'run', 'start:web'] },
    ],
    ['serve when there is no start', { serve: 'x', dev: 'y' }, { app: ['npm', 'run', 'serve'] }],
    ['dev when there is nothing else', { dev: 'vite', build: 'x' }, { app: ['npm', 'run', 'dev'] }],
    ['an odd name', { 'worker:"a b" $X': 'x' }, { 'worker-a-b-x': ['npm', 'run', 'worker:"a b" $X'] }],
  ])('%s', (_what, all, expected) => {
    expect(commands(scripts(all))).toEqual(expected);
  });

  test('variables before node are variables of the component', () => {
    expect(read(scripts({ start: 'NODE_ENV=production PRICE=\'$5\' node server.js "a b"' }))).toMatchObject({
      app: { command: ['node', 'server.js', 'a b'], env: { NODE_ENV: 'production', PRICE: '$5' } },
    });
  });

  test.each<[Files, string]>([
    [{}, 'npm'],
    [{ 'pnpm-lock.yaml': '' }, 'pnpm'],
    [{ 'yarn.lock': '' }, 'yarn'],
    [{ 'bun.lock': '' }, 'bun'],
  ])('the package manager that wrote the lock file: %j', (lock, manager) => {
    expect(commands({ ...scripts({ start: 'x' }), ...lock })).toEqual({ app: [manager, 'run', 'start'] });
  });

  test('the package manager that is named', () => {
    expect(commands(scripts({ start: 'x' }, { packageManager: 'pnpm@9.1.0' }))).toEqual({
      app: ['pnpm', 'run', 'start'],
    });
  });

  test('server.js alone is what npm start would run', () => {
    expect(commands({ 'package.json': '{}', 'server.js': '' })).toEqual({ app: ['node', 'server.js'] });
  });

  test.each([
    ['not JSON', '{', 'It is not valid JSON.'],
    ['a list', '[]', 'It has no scripts.'],
    ['no services', '{"scripts":{"build":"x","a b":"y"}}', 'of their own: "build" and "a b".'],
    ['scripts of other kinds', '{"scripts":{"start":1,"dev":null,"a\\u0000":"x"}}', 'It has no scripts.'],
  ])('%s: an example is written, and the reason', (_what, text, reason) => {
    const suggested = suggest(folder({ 'package.json': text }));
    expect(suggested.components).toEqual(['example']);
    expect(suggested.text).toContain(reason);
    expect(suggested.found).toMatchObject([{ file: 'package.json', used: false }]);
    load(suggested.text);
  });
});

describe('Python', () => {
  const scriptsToml =
    '[project]\nname = "x"\n[project.scripts]\nshop-worker = "a:b" # c\n"shop-cli" = "c:d"\n[tool.x]\nserver = 1\n';
  test.each<[string, Files, Record<string, readonly string[]>]>([
    ['Django', { 'manage.py': '' }, { web: ['python3', 'manage.py', 'runserver', '--noreload'] }],
    [
      'its own interpreter',
      { 'manage.py': '', '.venv/bin/python': '' },
      { web: ['.venv/bin/python', 'manage.py', 'runserver', '--noreload'] },
    ],
    ['scripts that look like services', { 'pyproject.toml': scriptsToml }, { 'shop-worker': ['shop-worker'] }],
    ['with uv', { 'pyproject.toml': scriptsToml, 'uv.lock': '' }, { 'shop-worker': ['uv', 'run', 'shop-worker'] }],
    [
      'installed beside it',
      { 'pyproject.toml': scriptsToml, '.venv/bin/shop-worker': '' },
      { 'shop-worker': ['.venv/bin/shop-worker'] },
    ],
    ['a program beside it', { 'pyproject.toml': '', 'main.py': '' }, { main: ['python3', 'main.py'] }],
    ['a program alone', { 'app.py': '', 'poetry.lock': '' }, { app: ['poetry', 'run', 'python', 'app.py'] }],
  ])('%s', (_what, files, expected) => {
    expect(commands(files)).toEqual(expected);
  });

  test('nothing in it that runs for long', () => {
    const { components, text } = suggest(folder({ 'pyproject.toml': '[tool.poetry.scripts]\nblack = "black:main"\n' }));
    expect(components).toEqual(['example']);
    expect(text).toContain('# pyproject.toml: Scripts that do not look like a service: "black".');
  });
});

describe('Compose', () => {
  const compose = `
x-common: &common { restart: always }
services:
  "db 1":
    <<: *common
    image: "postgres:16\\u001b[2J"
    ports: ["5432", "127.0.0.1:15432:5432"]
  cache: { image: redis, ports: [{ target: 6379, published: 6380 }] }
`;

  test('alone, its services become components that wait for each other as there; those with a profile or an odd name do not', () => {
    const { text, components, found } = suggest(
      folder({
        'docker-compose.yml': `${compose}
  api:
    build: .
    depends_on: { cache: { condition: service_healthy }, migrate: { condition: service_completed_successfully }, debug: {} }
  migrate: { image: tools, depends_on: [cache] }
  debug: { image: tools, profiles: [debug] }
  a: { image: x, depends_on: [b] }
  b: { image: x, depends_on: [a, b] }
`,
      }),
    );
    expect(components).toEqual(['cache', 'api', 'migrate', 'a', 'b']);
    expect(found).toMatchObject([{ file: 'docker-compose.yml', used: true }]);
    expect(text).toContain(
      '# docker-compose.yml: Services that were left out, because of their profiles or names: "db 1"',
    );
    const kept = load(text).components;
    expect(kept[0]).toMatchObject({ driver: { kind: 'compose', service: 'cache' } });
    expect(Object.fromEntries(kept.map(({ name, dependsOn }) => [name, dependsOn]))).toEqual({
      cache: {},
      api: { cache: 'ready', migrate: 'completed' },
      migrate: { cache: 'started' },
      a: { b: 'started' },
      b: {},
    });
  });

  test('beside a Procfile it is mentioned, and how to keep one is right', () => {
    const { text, found } = suggest(
      folder({ Procfile: 'web: a', 'compose.yaml': compose, ...scripts({ start: 'x' }) }),
    );
    expect(text).toContain('#   db 1 (postgres:16\\u001b[2J)\n#   cache (redis)');
    const [, pasted = ''] = text.split('write among the components:\n');
    const lines = pasted.split('\n').slice(0, 2);
    const [kept] = load(['components:', ...lines.map((line) => line.slice(2))].join('\n')).components;
    expect(kept).toMatchObject({ name: 'cache', driver: { kind: 'compose', service: 'cache' } });
    expect(found.map(({ file, used }) => [file, used])).toEqual([
      ['Procfile', true],
      ['package.json', false],
      ['compose.yaml', false],
    ]);
  });

  test.each(['', 'services: []', 'a: [', 'services:\n  a: *b'])('one that makes no sense hurts nobody: %j', (text) => {
    load(suggest(folder({ 'compose.yml': text })).text);
  });
});

test('nothing found: an example that runs as it is', () => {
  const suggested = suggest(folder({}, '///'));
  expect(suggested).toMatchObject({ components: ['example'], found: [] });
  expect(load(suggested.text)).toMatchObject({ name: 'project' });
});

test('what the comments say can be written is valid in this version', () => {
  const text = ['components:', '  database: { process: { command: [db] } }', ...MORE.slice(1)].join('\n');
  const [, api] = load(text).components;
  expect(api).toMatchObject({ name: 'api', stop: { graceMs: 30_000 }, restart: { policy: 'on-failure' } });
});

test('whatever a Procfile or a package.json holds, what is written is valid and means the same', () => {
  const word = fc.string({ unit: fc.constantFrom(...'aB1 \'"\\$|{}#:,[]&*!%@`~=-_.<>?;()\t/é\u001b\u2028😀') });
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word), { maxLength: 5 }), word, (lines, name) => {
      const Procfile = lines.map(([key, line]) => `${key}:${line}`).join('\n');
      load(suggest(folder({ Procfile }, name)).text);
      load(suggest(folder(scripts(Object.fromEntries(lines.map(([key, line]) => [`start:${key}`, line]))), name)).text);
      const [, only = ''] = lines[0] ?? [];
      const { text } = suggest(folder({ Procfile: `only: ${only}` }));
      const { driver } = load(text).components[0]!;
      const isShell = driver.kind === 'process' && driver.shell && text.includes('# Procfile, line 1');
      if (isShell) expect(driver.command).toEqual(shell(only.trim()));
    }),
    { numRuns: 200 },
  );
});
