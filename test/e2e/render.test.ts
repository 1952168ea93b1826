/** `keepwell render` from outside: what goes to stdout, stderr, files and scripts, and that nobody else loads it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { TestProject } from '../support/project.ts';

const CONFIG = `name: shop
kubernetes: { image: registry.example.com/shop:1 }
components:
  database:
    container: { image: "postgres:16", env: { POSTGRES_PASSWORD: "\${DB_PASSWORD}" }, ports: ["5432:5432"] }
    readiness: { tcp: 5432 }
  api:
    process: { command: [./api] }
    depends_on: { database: ready }
    heartbeat: { log_every: 30s }
`;
const ENV = { DB_PASSWORD: 'hunter2-hunter2' };
const RENDER = ['render', '--engine', 'kubernetes'];

const kinds = (text: string): readonly string[] =>
  parseAllDocuments(text).map((document) => String((document.toJS() as { kind: string }).kind));

test('the manifest goes to stdout, what is lost to stderr with its line, and no daemon is started', async () => {
  await using project = new TestProject(CONFIG, ENV);
  const { code, stdout, stderr } = await project.cli(...RENDER);
  expect(code).toBe(0);
  expect(kinds(stdout)).toEqual(['Service', 'Deployment', 'Deployment']);
  expect(stdout).not.toContain(ENV.DB_PASSWORD);
  expect(stderr).toMatch(/^lost: keepwell\.yaml:10:5 components\.api\.heartbeat: /);
  expect(existsSync(project.home)).toBe(false);
});

test('--strict writes nothing and exits with 1', async () => {
  await using project = new TestProject(CONFIG, ENV);
  const { code, stdout, stderr } = await project.cli(...RENDER, '--strict', '--to', 'all.yaml');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('keepwell.yaml:10:5 components.api.heartbeat');
  expect(existsSync(project.path('all.yaml'))).toBe(false);
  project.configure(CONFIG.replace(/ {4}heartbeat.*\n/, ''));
  expect((await project.cli(...RENDER, '--strict')).code).toBe(0);
});

test('one file, or one for each stage; what has secrets in it is for its owner alone', async () => {
  await using project = new TestProject(CONFIG, ENV);
  const { stdout } = await project.cli(...RENDER);
  await project.ok(...RENDER, '--to', 'all.yaml');
  expect(project.read('all.yaml')).toBe(stdout.replaceAll('-f FILE', '-f all.yaml'));
  await project.ok(...RENDER, '--to', 'deploy/');
  expect(readdirSync(project.path('deploy')).sort()).toEqual(['stage-1.yaml', 'stage-2.yaml']);
  expect(kinds(project.read('deploy/stage-2.yaml'))).toEqual(['Deployment']);
  await project.ok(...RENDER, '--secrets', 'only', '--to', 'secrets.yaml');
  expect(kinds(project.read('secrets.yaml'))).toEqual(['Secret']);
  expect(project.read('secrets.yaml')).toContain(ENV.DB_PASSWORD);
  expect(statSync(project.path('secrets.yaml')).mode & 0o777).toBe(0o600);
});

test('a script gets one document, with the namespace that was asked for', async () => {
  await using project = new TestProject(CONFIG, ENV);
  const { stdout } = await project.cli(...RENDER, '-o', 'json', '--namespace', 'prod');
  const { objects, ...rest } = JSON.parse(stdout) as { objects: { metadata: { namespace: string } }[] };
  expect(objects.map(({ metadata }) => metadata.namespace)).toEqual(['prod', 'prod', 'prod']);
  expect(rest).toMatchObject({
    schema_version: 1,
    engine: 'kubernetes',
    namespace: 'prod',
    stages: [
      {
        stage: 1,
        components: ['database'],
        waits: ['kubectl -n prod rollout status deployment/database --timeout=120s'],
      },
      { stage: 2, components: ['api'], waits: [] },
    ],
    secrets: ['database-env'],
    losses: [{ component: 'api', line: 10, column: 5, path: 'components.api.heartbeat' }],
  });
});

test('what cannot be rendered or was not meant is refused with 2', async () => {
  await using project = new TestProject('components: { api: { process: { command: [./api] } } }\n');
  const missing = await project.cli(...RENDER);
  expect([missing.code, missing.stdout]).toEqual([2, '']);
  expect(missing.stderr).toContain(
    'components.api.process: is a process, and on Kubernetes everything runs from an image',
  );
  expect((await project.cli('render')).code).toBe(2);
  expect((await project.cli(...RENDER, '--namespace', 'No!')).code).toBe(2);
});

/** The parts of the build that make components into objects of Kubernetes. */
const parts = readdirSync('dist/bin').filter((name) =>
  readFileSync(join('dist/bin', name), 'utf8').includes('What the configuration says and Kubernetes does not do'),
);

/** Which of them a program has loaded when it ends. */
function loadedBy(project: TestProject, ...args: readonly string[]): readonly string[] {
  const hook = project.path('hook.cjs');
  writeFileSync(
    hook,
    `process.on('exit', () => require('fs').writeFileSync('loaded', Object.keys(require.cache).join('\\n')))`,
  );
  const env = { ...process.env, ...ENV, NODE_DISABLE_COMPILE_CACHE: '1' };
  execFileSync(process.execPath, ['--require', hook, ...args], { cwd: project.dir, env, stdio: 'pipe' });
  const loaded = project.read('loaded').split('\n');
  expect(loaded.length).toBeGreaterThan(1);
  return parts.filter((part) => loaded.some((path) => path.endsWith(`/${part}`)));
}

test('nobody loads it but those who render', async () => {
  await using project = new TestProject(CONFIG, ENV);
  const [entry, library] = ['dist/bin/keepwell.cjs', 'dist/bin/library.cjs'].map((file) => resolve(file));
  expect(parts).toHaveLength(1);
  expect(loadedBy(project, entry!, ...RENDER)).toEqual(parts);
  for (const command of ['validate', 'status', 'graph']) expect(loadedBy(project, entry!, command)).toEqual([]);
  expect(loadedBy(project, '-e', `require(${JSON.stringify(library)})`)).toEqual([]);
});

test('a program gets the same from the library', async () => {
  await using project = new TestProject(CONFIG, ENV);
  const script = `import { render } from ${JSON.stringify(resolve('dist/lib/index.mjs'))};
const { objects, losses, yaml, secrets } = await render('keepwell.yaml');
const strict = await render('keepwell.yaml', { strict: true }).catch(({ code }) => code);
const given = await render({ components: { a: { container: { image: 'a:1' } } } }, { namespace: 'n' });
console.log(JSON.stringify({ yaml, secrets, strict, kinds: objects.map((o) => o.kind), lost: losses[0].path, given: given.objects[0].metadata.namespace }));`;
  const answer = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: project.dir,
    env: { ...process.env, ...ENV },
    encoding: 'utf8',
  });
  const { yaml, ...rest } = JSON.parse(answer) as { yaml: string };
  expect(rest).toEqual({
    secrets: ['database-env'],
    strict: 'KUBERNETES_LOSSES',
    kinds: ['Service', 'Deployment', 'Deployment'],
    lost: 'components.api.heartbeat',
    given: 'n',
  });
  expect(yaml).toBe((await project.cli(...RENDER)).stdout);
});
