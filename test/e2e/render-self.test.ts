/** `keepwell render --self`: what runs the daemon in a cluster, whether its account may do what the daemon does, and nothing else. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { openCluster, type TestCluster } from '../support/kubernetes.ts';
import { Hand } from '../support/kubernetes-hand.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const CONFIG = `name: shop
kubernetes: { image: "shop:1", namespace: default }
components:
  api:
    process: { command: [./api, "\${API_PLACE}"], env_file: [api.env] }
  web:
    container: { image: "web:1", volumes: ["./web.conf:/etc/web.conf:ro"], ports: ["127.0.0.1:80:80"] }
  once:
    process: { command: [./once] }
    restart: { policy: on-failure }
`;
const ENV = { API_PLACE: 'here', UNRELATED_TOKEN: 'not-for-you' };

function projectOf(env: Record<string, string> = ENV): TestProject {
  const project = new TestProject(CONFIG, env);
  project.write('api.env', 'API_KEY=very-hidden-1\n');
  project.write('web.conf', 'listen 80\n');
  return project;
}

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, as the test knows them
type Any = any;
const objectsIn = (text: string): readonly Any[] => parseAllDocuments(text).map((document) => document.toJS());
const named = (objects: readonly Any[], kind: string): Any => objects.find((object) => object.kind === kind);

test('an account, its rights, the configuration with its files, and one pod; Secrets are only named', async () => {
  await using project = projectOf();
  const text = await project.ok('render', '--self', 'keepwell:1', '--claim', 'shop-state');
  const objects = objectsIn(text);
  expect(objects.map(({ kind }) => kind)).toEqual(['ServiceAccount', 'Role', 'RoleBinding', 'ConfigMap', 'Deployment']);
  expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['default']));
  expect(text).not.toMatch(/very-hidden-1|not-for-you/);
  expect(text).toContain('keepwell render --self keepwell:1 --secrets only | kubectl apply -f -');
  const { spec } = named(objects, 'Deployment').spec.template;
  const [container] = spec.containers;
  expect(container).toMatchObject({
    image: 'keepwell:1',
    command: [
      ...['keepwell', 'daemon', '-f', '/etc/keepwell/keepwell.yaml', '-f', '/etc/keepwell/keepwell-engine.yaml'],
    ],
    envFrom: [{ secretRef: { name: 'keepwell-shop-env' } }],
  });
  expect(spec).toMatchObject({ serviceAccountName: 'keepwell-shop', securityContext: { runAsNonRoot: true } });
  expect(spec.volumes[1]).toEqual({ name: 'state', persistentVolumeClaim: { claimName: 'shop-state' } });
  const [open, hidden] = spec.volumes[0].projected.sources;
  expect(open.configMap.items.map(({ path }: Any) => path)).toEqual([
    'keepwell.yaml',
    'web.conf',
    'keepwell-engine.yaml',
  ]);
  expect(hidden.secret.items).toEqual([{ key: expect.stringContaining('api.env'), path: 'api.env' }]);
  const { data } = named(objects, 'ConfigMap');
  expect(Object.values(data)).toEqual([CONFIG, 'listen 80\n', 'engine: kubernetes\n']);
  // What "down" removes is found by this label: the daemon must not remove itself.
  expect(text).not.toContain('app.kubernetes.io/managed-by');
});

test('--secrets only has the values that the configuration uses, and no others', async () => {
  await using project = projectOf();
  const objects = objectsIn(await project.ok('render', '--self', 'keepwell:1', '--secrets', 'only'));
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'Secret keepwell-shop-env',
    'Secret keepwell-shop-files',
  ]);
  expect(objects[0].stringData).toEqual({ API_PLACE: 'here' });
  expect(Object.values(objects[1].stringData)).toEqual(['API_KEY=very-hidden-1\n']);
});

test('a file elsewhere is refused, and so is a claim without --self', async () => {
  await using other = projectOf();
  await using project = projectOf();
  project.configure(CONFIG.replace('api.env', other.path('api.env')));
  const { code, stderr } = await project.cli('render', '--self', 'keepwell:1');
  expect(code).toBe(2);
  expect(stderr).toContain('is not in the folder of the configuration');
  expect((await project.cli('render', '--claim', 'a')).code).toBe(2);
});

let cluster: TestCluster;
let hand: Hand;
beforeEach(async () => {
  cluster = await openCluster();
  hand = new Hand(cluster);
});
afterEach(async () => {
  await hand[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

/** "GET /api/v1/namespaces/default/pods/a/log?…" as "get pods/log", in the words of a Role. */
function rightsOf(asked: string): readonly string[] {
  const [method = '', url = ''] = asked.split(' ');
  const { pathname, searchParams } = new URL(url, 'https://fake');
  const [, resource = '', name, sub] =
    /\/namespaces\/[^/]+\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(pathname) ?? [];
  const what = sub === undefined ? resource : `${resource}/${sub}`;
  const read = searchParams.get('watch') === 'true' ? 'watch' : name === undefined ? 'list' : 'get';
  const verbs: Readonly<Record<string, readonly string[]>> = {
    ...{ GET: [read], POST: ['create'], PUT: ['update'], DELETE: ['delete'] },
    PATCH: ['create', 'patch'], // server-side apply makes what is not there
  };
  return verbs[method]!.map((verb) => `${verb} ${what}`);
}

test('the account may do exactly what the daemon asks for in its life', async (context) => {
  const { fake } = cluster;
  if (!fake) return context.skip('only the fake writes down what it was asked');
  await using project = projectOf({ ...ENV, KUBECONFIG: cluster.kubeconfig });
  const role = named(objectsIn(await project.ok('render', '--self', 'keepwell:1')), 'Role');
  const allowed = new Set(
    role.rules.flatMap(({ resources, verbs }: { resources: string[]; verbs: string[] }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    ),
  );
  // What stands in for controllers and kubelets asks the same server with the same token; it does so before and after, too.
  await hand[Symbol.asyncDispose]();
  fake.asked.length = 0;
  project.write('engine.yaml', 'engine: kubernetes\n');
  const both = ['-f', 'keepwell.yaml', '-f', 'engine.yaml'];
  const up = project.cli(...both, 'up', '--no-wait');
  await waitFor('the watch', () => fake.asked.some((each) => each.includes('watch=true')));
  expect((await up).code).toBe(0);
  await waitFor('the Job', () => fake.asked.some((each) => /^PATCH .*\/jobs\/once\?(?!.*dryRun)/.test(each)));
  await waitFor('the Lease to be renewed', () => fake.asked.some((each) => /^PUT .*\/leases\//.test(each)));
  expect((await project.cli(...both, 'down')).code).toBe(0);
  const used = new Set(fake.asked.flatMap(rightsOf));
  expect([...used].filter((right) => !allowed.has(right))).toEqual([]);
  // Without a pod there is nothing to read a log of, and no end that Events could explain.
  const unused = [...allowed].filter((right) => !used.has(right as string));
  expect(unused).toEqual(['get pods/log', 'list events']);
  hand = new Hand(cluster);
});

test('a real server takes all of it', async (context) => {
  if (cluster.fake) return context.skip('it judges nothing');
  await using project = projectOf();
  const objects = objectsIn(await project.ok('render', '--self', 'keepwell:1', '--secrets', 'include'));
  const plural = (kind: string) => `${kind.toLowerCase()}s`;
  for (const object of objects) {
    const group = object.apiVersion === 'v1' ? '/api/v1' : `/apis/${object.apiVersion}`;
    const path = `${group}/namespaces/default/${plural(object.kind)}`;
    expect(await cluster.call('POST', path, object)).toMatchObject({ status: 201 });
  }
});
