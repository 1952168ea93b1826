import { describe, expect, test } from 'vitest';
import { containerHash, ingredients, specHash } from '../../../src/config/fingerprint.ts';
import type { ContainerSpec } from '../../../src/supervision/spec.ts';
import { linesOf, oneProblem, only, problemsOf } from './support.ts';

/** A component with these keys of its container, beside its image. */
const box = (keys: string, rest = ''): string => `components: { api: { container: { image: app, ${keys} }, ${rest} } }`;
/** A component `api` with a container and these keys. */
const kept = (keys: string): string => box('', keys);

function containerOf(text: string): ContainerSpec {
  const { driver } = only(text);
  if (driver.kind !== 'container') throw new Error('it is not a container');
  return driver;
}

describe('a container', () => {
  test('has a default for everything but its image', () => {
    expect(containerOf('components: { api: { container: { image: "redis:7" } } }')).toEqual({
      kind: 'container',
      image: 'redis:7',
      pull: 'never',
      containerName: null,
      command: null,
      entrypoint: null,
      user: null,
      workdir: null,
      labels: {},
      network: null,
      ports: [],
      volumes: [],
      healthcheck: null,
      cleanup: 'keep',
      cwd: '/project',
      env: {},
      envFiles: [],
    });
  });

  test('is read as the design has it', () => {
    const text = `
components:
  agent-runner:
    container:
      image: stigmer/agent-runner:local
      name: stigmer-agent-runner
      command: [serve, --all]
      entrypoint: [/runner]
      env: { A: b }
      env_file: .env
      user: 1000:1000
      workdir: /app
      labels: { team: agents }
      network: backend
      pull: missing
      ports: ["127.0.0.1:9000:9000"]
      volumes: ["./data:/data"]
      healthcheck: { command: [sh, -c, "wget -qO- localhost:9000/healthz"], period: 10s, timeout: 2s, failure_threshold: 3 }
    limits: { memory: 512MiB, cpus: 1.5, pids: 200, soft_memory: 400MiB, nofile: 4096 }
    stop: { signal: SIGINT, grace: 5s }
    cleanup: remove
`;
    const spec = only(text);
    expect(spec.limits).toEqual({
      memoryBytes: 512 * 2 ** 20,
      cpus: 1.5,
      pids: 200,
      nofile: 4096,
      softMemoryBytes: 400 * 2 ** 20,
    });
    expect(spec.driver).toMatchObject({
      image: 'stigmer/agent-runner:local',
      containerName: 'stigmer-agent-runner',
      user: '1000:1000',
      volumes: ['/project/data:/data'],
      envFiles: ['/project/.env'],
      healthcheck: {
        command: ['sh', '-c', 'wget -qO- localhost:9000/healthz'],
        times: { intervalMs: 10_000, timeoutMs: 2_000, startPeriodMs: 0, retries: 3 },
      },
      cleanup: 'remove',
    });
  });

  test.each([
    ['9000', { hostIp: '127.0.0.1', hostPort: null, port: 9000, protocol: 'tcp' }],
    ['8000:9000', { hostIp: '127.0.0.1', hostPort: 8000, port: 9000, protocol: 'tcp' }],
    ['0.0.0.0:8000:9000/udp', { hostIp: '0.0.0.0', hostPort: 8000, port: 9000, protocol: 'udp' }],
    ['10.0.0.5::9000', { hostIp: '10.0.0.5', hostPort: null, port: 9000, protocol: 'tcp' }],
    ['[::1]:8000:9000', { hostIp: '::1', hostPort: 8000, port: 9000, protocol: 'tcp' }],
  ])('the port %s', (text, port) => {
    expect(containerOf(box(`ports: ["${text}"]`)).ports).toEqual([port]);
  });

  test.each([
    ['./data:/data:ro', '/project/data:/data:ro'],
    ['../shared:/s', '/shared:/s'],
    ['/var/run/docker.sock:/var/run/docker.sock', '/var/run/docker.sock:/var/run/docker.sock'],
    ['cache:/var/cache', 'cache:/var/cache'],
    ['.:/src', '/project:/src'],
  ])('the volume %s', (text, bind) => {
    expect(containerOf(box(`volumes: ["${text}"]`)).volumes).toEqual([bind]);
  });

  test.each([
    'redis',
    'redis:7.2-alpine',
    'ghcr.io/acme/app:1',
    'localhost:5000/a/b_c',
    'a--b',
    `app@sha256:${'0'.repeat(64)}`,
  ])('the image %s', (image) => {
    expect(containerOf(`components: { api: { container: { image: "${image}" } } }`).image).toBe(image);
  });

  test('the health check of the image can be switched off', () => {
    expect(containerOf(box('healthcheck: none')).healthcheck).toBe('none');
  });
});

describe('what cannot work is refused with a way out', () => {
  test.each([
    // images and names
    ['components: { api: { container: {} } }', 'container: the image is missing | Write: image: name:tag'],
    ['components: { api: { container: redis } }', 'container: must be a map | Write: container: { image: redis }'],
    [
      'components: { api: { container: { image: Redis } } }',
      'container.image: "Redis" is not the name of an image | It is written in small letters: redis',
    ],
    ['components: { api: { container: { image: "https://x/y" } } }', 'Write "x/y", without the scheme.'],
    [box('name: a'), 'container.name: "a" cannot be the name of a container | Use letters'],
    [box('user: "a b"'), 'container.user: "a b" is not an account'],
    [box('workdir: app'), 'container.workdir: a path inside a container must begin with a slash | Write /app'],
    [box('network: "container:db"'), 'container.network: the network of another container cannot be shared'],
    [box('labels: { keepwell.owner: me }'), 'labels that begin with "keepwell." are set by Keepwell'],
    [box('pull: IfNotPresent'), 'Did you mean "missing"?'],
    // ports
    [box('ports: [9000]'), 'container.ports[0]: must be text, not a number | Write "9000:9000"'],
    [box('ports: 9000'), 'container.ports: must be a list | Write: ports: ["9000"]'],
    [box('ports: ["9000-9010:9000-9010"]'), 'a range of ports is not taken | Write one line for each'],
    [box('ports: ["localhost:9000:9000"]'), 'Write 127.0.0.1 instead of localhost.'],
    [box('ports: ["::1:9000:9000"]'), 'Put an IPv6 address in brackets'],
    [box('ports: ["9000:90000"]'), 'a port is a whole number from 1 to 65535'],
    [box('ports: ["9000/sctp"]'), 'Only "/tcp" and "/udp"'],
    [box('ports: [{ target: 80, published: 8080 }]'), 'must be text, not a map | Write "127.0.0.1:8080:80".'],
    [box('ports: ["8000:1", "8000:2"]'), 'container.ports[1]: port 8000 of this machine is published already'],
    [box('ports: ["80:80"], network: host'), 'nothing has to be published'],
    // volumes
    [box('volumes: ["/data"]'), 'a volume without a name is lost with its container | Give it a name'],
    [box('volumes: ["data/x:/y"]'), 'For a path, write "./data/x:/y".'],
    [box('volumes: ["~/x:/y"]'), '"~" is not expanded | Write "${HOME}/x:/y".'],
    [box('volumes: ["./x:y"]'), 'a path inside a container must begin with a slash'],
    [box('volumes: ["./x:/y:cached"]'), 'the option "cached" does nothing on Linux'],
    [box('volumes: ["./x:/y", "./z:/y/"]'), 'container.volumes[1]: there is something else at "/y" already'],
    // commands
    [box('command: serve --all'), 'command is a list of texts, not one text | Write: command: [serve, --all]'],
    [box('command: "a | b"'), 'Write: command: [sh, -c, "a | b"]'],
    [box('entrypoint: []'), 'the command is empty | Write: entrypoint: [/usr/bin/runner]'],
    [box('healthcheck: {}'), 'container.healthcheck: the command is missing'],
    [box('healthcheck: off'), 'Did you mean "none"?'],
    // other keys
    [kept('restart: { command: [a] }'), 'a container is started again by Keepwell itself'],
    [kept('limits: { memory: 4MiB }'), 'a container must have at least 6MiB of memory'],
    [kept('liveness: { exec: { command: [a], cwd: x } }'), 'liveness.exec.cwd: the command runs inside the container'],
    ['components: { api: { process: { command: [a] }, cleanup: remove } }', 'cleanup: only a container is left over'],
    [box('', 'process: { command: [a] }'), 'process and container exclude each other'],
    [box('', 'external: { container: x }'), 'container and external exclude each other'],
    // probes that could not get in
    [
      kept('readiness: { http: 8080 }'),
      'where port 8080 of the container is not published | Write in container: ports: ["127.0.0.1:8080:8080"]',
    ],
    [
      box('ports: ["8080:80"]', 'liveness: { all_of: [{ tcp: 80 }] }'),
      'liveness.all_of[0].tcp: probes connect from this machine, where port 80 of the container is 8080 | Write 8080.',
    ],
    [box('ports: ["80"]', 'liveness: { grpc: 80 }'), 'where Docker chooses another port for 80 each time'],
    [
      box('ports: ["10.0.0.5:80:80"]', 'liveness: { tcp: 80 }'),
      'port 80 is published on 10.0.0.5 only | Write in the question: host: "10.0.0.5"',
    ],
  ])('%s', (text, problem) => {
    expect(oneProblem(text)).toContain(problem);
  });

  test.each([
    box('ports: ["8080:80"]', 'readiness: { http: 8080 }'),
    box('network: host', 'readiness: { http: 8080 }'),
    kept('readiness: { http: "http://example.com:80/" }'),
    kept('readiness: { exec: { command: "a | b", shell: true } }, heartbeat: { ping: true }, crash_patterns: [x]'),
  ])('%s is fine', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  test('two containers want the same name and the same port', () => {
    const container = (ports: string) => `container: { image: a, name: same, ports: ["${ports}"] }`;
    expect(
      linesOf(`components:\n  a: { ${container('127.0.0.1:80:80')} }\n  b: { ${container('0.0.0.0:80:81')} }`),
    ).toEqual([
      '3:37 components.b.container.name: the container of a is called "same", too | Give each its own name.',
      '3:51 components.b.container.ports[0]: port 80 of this machine is published by a already | Choose another one.',
    ]);
  });
});

describe('the words of Compose and of docker run', () => {
  test.each([
    // inside `container`
    [box('environment: ["A=b"]'), 'Write: env: { A: "b" }'],
    [box('working_dir: /app'), 'Write: workdir: /app'],
    [box('image_pull_policy: IfNotPresent'), 'Write: pull: missing'],
    [box('restart: always'), 'Write in the component: restart: { policy: always }'],
    [box('mem_limit: 512m'), 'Write in the component: limits: { memory: 512MiB }'],
    [box('cpus: 2'), 'Write in the component: limits: { cpus: … }'],
    [box('deploy: { resources: {} }'), 'Write in the component: limits: { memory: 512MiB, cpus: 1.5 }'],
    [box('stop_grace_period: 30s'), 'Write in the component: stop: { grace: 30s }'],
    [box('networks: [backend]'), 'Write: network: backend'],
    [box('privileged: true'), 'external: { container: NAME }'],
    [box('build: .'), 'docker build -t NAME .'],
    [box('healthcheck: { command: [a], interval: 5s }'), 'Write: period: 5s'],
    [box('healthcheck: { test: ["CMD-SHELL", "a || b"] }'), 'Write: command: [sh, -c, "a || b"]'],
    [
      box('healthcheck: { command: [a], disable: true }'),
      'is container.healthcheck. Write in the component: container: { healthcheck: none }',
    ],
    // beside it
    [kept('command: [serve]'), 'Write: container: { command: [serve] }'],
    [kept('environment: { A: b }'), 'Write: container: { env: { NAME: "value" } }'],
    [kept('restart: always'), 'Write: restart: { policy: always }'],
    // a service as Compose has it
    ['components: { api: { image: redis } }', 'Write: container: { image: redis }'],
  ])('%s', (text, hint) => {
    expect(oneProblem(text)).toContain(hint);
  });

  test('a whole service of Compose is told key by key, and not that nothing is run', () => {
    const text = 'components: { web: { image: nginx, ports: ["80:80"], container_name: web, volumes: ["./a:/b"] } }';
    const lines = linesOf(text);
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(line).toMatch(/Write: container: \{ /);
  });
});

describe('what a container is made of', () => {
  const at = (keys: string, rest = '') => only(box(keys, rest));

  test.each(['pull: always', 'command: []'])('its hash is stable over %s only where that changes nothing', () => {
    expect(specHash(at('pull: always'))).toBe(specHash(at('')));
  });

  test.each([
    'command: [x]',
    'name: other',
    'ports: ["80"]',
    'volumes: ["./a:/a"]',
    'env: { A: b }',
    'healthcheck: none',
    'user: app',
  ])('%s makes another one', (keys) => {
    expect(specHash(at(keys))).not.toBe(specHash(at('')));
  });

  test.each(['limits: { cpus: 1 }', 'limits: { memory: 64MiB }'])('%s makes another one', (rest) => {
    expect(specHash(at('', rest))).not.toBe(specHash(at('')));
  });

  test.each(['cleanup: remove', 'stop: { grace: 1s }', 'restart: { policy: never }', 'limits: { soft_memory: 64MiB }'])(
    '%s makes no other one',
    (rest) => {
      expect(specHash(at('', rest))).toBe(specHash(at('')));
    },
  );

  test('what its env files say makes another one, too', () => {
    const spec = at('env_file: .env');
    expect(containerHash(spec, { A: '1' })).not.toBe(containerHash(spec, { A: '2' }));
  });

  test('its ingredients are named as in the configuration, variables by name', () => {
    const names = Object.keys(ingredients(at('env: { TOKEN: x }, env_file: .env')));
    expect(names).toEqual(
      expect.arrayContaining(['image', 'ports', 'volumes', 'env TOKEN', 'env_file .env', 'limits']),
    );
    expect(names).not.toContain('cwd');
  });
});
