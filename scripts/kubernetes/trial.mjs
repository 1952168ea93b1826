/**
 * `npm run test:kubernetes`: Keepwell on a real Kubernetes of two nodes (lab.mjs), from outside: how containers die there and what is recorded of it, the
 * breaker, an outage of the API server, a daemon that is killed again and again, the loss of a node. Prints a table of every death; ends with 1 when one
 * is missing, doubled or wrong. KEEPWELL_KUBE_BIN names the folder with the binaries (build.sh makes it). Needs root; takes a few minutes.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const bin = process.env.KEEPWELL_KUBE_BIN ?? '';
const missing = ['etcd', 'kube-apiserver', 'kube-scheduler', 'kube-controller-manager', 'kubelet', 'kubectl'].filter(
  (name) => !existsSync(join(bin, name)),
);
if (bin === '' || missing.length > 0) {
  console.error(
    `skipped: KEEPWELL_KUBE_BIN names no folder with ${missing.join(', ')}; scripts/kubernetes/build.sh DIR makes one`,
  );
  process.exit(process.env.KEEPWELL_REQUIRE_ALL ? 1 : 0);
}
const root = mkdtempSync(join(tmpdir(), 'kwlab-'));
const lab = join(root, 'lab');
const project = mkdtempSync(join(tmpdir(), 'kwlab-project-'));
const env = { ...process.env, KUBECONFIG: join(lab, 'kubeconfig') };
const hub = ['--net=/run/netns/kwlab-hub'];

const labDo = (...args) => {
  const { status } = spawnSync(process.execPath, [join(here, 'lab.mjs'), ...args], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`lab ${args[0]} failed`);
};
const kw = (...args) =>
  spawnSync('nsenter', [...hub, process.execPath, join(here, '../../dist/bin/keepwell.cjs'), ...args], {
    ...{ cwd: project, env, encoding: 'utf8', maxBuffer: 2 ** 26 },
  });
const json = (...args) => JSON.parse(kw('-o', 'json', ...args).stdout);
const kubectl = (...args) =>
  spawnSync('nsenter', [...hub, join(bin, 'kubectl'), ...args], { env, encoding: 'utf8' }).stdout;
const component = (name) => json('status').components.find((each) => each.name === name);
const crashesOf = (name) => json('crashes', name, '--limit', '1000').crashes;

let failures = 0;
const check = (what, isSo) => {
  console.log(`${isSo ? 'ok  ' : 'FAIL'} ${what}`);
  if (!isSo) failures++;
};
async function until(what, fact, limitS = 240) {
  for (const end = Date.now() + limitS * 1_000; Date.now() < end; await pause(500)) {
    try {
      if (fact()) return true;
    } catch {
      // asked too early
    }
  }
  check(`in time: ${what}`, false);
  return false;
}

const shell = (text) => `process: { command: [sh, -c, ${JSON.stringify(text.replaceAll('$', '$$$$'))}] }`;
const LOOP = "trap 'exit 0' TERM; while :; do sleep 1 & wait; done";
const thrice = 'restart: { limit: { max: 2, within: 30m, retry: never } }';
/** Name → what every death of it must look like. */
const DEATHS = {
  code7: { does: shell('sleep 1; echo fatal: no licence; exit 7'), isRight: ({ exit }) => exit.code === 7 },
  segv: { does: shell("sleep 1; sh -c 'kill -SEGV $$'; exit $?"), isRight: ({ exit }) => exit.signal === 'SIGSEGV' },
  oom: {
    does: `limits: { memory: 24MiB }\n    ${shell('sleep 1; x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done')}`,
    isRight: ({ exit }) => exit.oom,
  },
  sick: {
    does: `liveness: { exec: { command: [sh, -c, "echo I am sick; false"] }, period: 1s, failure_threshold: 2 }\n    ${shell(LOOP)}`,
    isRight: ({ exit }) => /Liveness probe failed: I am sick/.test(exit.unhealthy ?? ''),
  },
  late: {
    does: `startup: { exec: { command: ["false"] }, period: 1s, failure_threshold: 2 }\n    ${shell(LOOP)}`,
    isRight: ({ exit }) => /Startup probe failed|startup probe/.test(exit.unhealthy ?? ''),
  },
  trace: {
    does: shell(
      `sleep 1; printf 'Traceback (most recent call last):\\n  File "/app/a.py", line 3, in <module>\\n    f()\\nKeyError: 1\\n'; exit 1`,
    ),
    isRight: ({ error_type: type }) => type === 'KeyError',
  },
};

function configure(extra = '') {
  const mortals = Object.entries(DEATHS).map(([name, { does }]) => `  ${name}:\n    ${does}\n    ${thrice}\n`);
  const ready = 'readiness: { exec: { command: [test, -f, /tmp/ok] }, period: 1s }';
  writeFileSync(
    join(project, 'keepwell.yaml'),
    `name: trial\nengine: kubernetes\nkubernetes: { image: "kwlab:1", namespace: default }\ncomponents:\n` +
      `  db:\n    ${shell(`sleep 2; touch /tmp/ok; ${LOOP}`)}\n    ${ready}\n` +
      `  web:\n    ${shell(`echo hello; ${LOOP}`)}\n    depends_on: { db: ready }\n` +
      `  once:\n    ${shell('echo done')}\n    restart: { policy: on-failure }\n${mortals.join('')}${extra}`,
  );
}

async function deaths() {
  configure();
  kw('up', '--timeout', '120s');
  await until('web is ready', () => component('web').ready);
  check(
    'what depends on another began after that was ready',
    component('web').started_at >= component('db').started_at,
  );
  await until('the Job is completed', () => component('once').state === 'completed');
  for (const name of Object.keys(DEATHS)) await until(`${name} is given up`, () => component(name).state === 'gave-up');
  console.log('\ncomponent  deaths  recorded  right  replicas');
  for (const [name, { isRight }] of Object.entries(DEATHS)) {
    const recorded = crashesOf(name);
    const right = recorded.filter(isRight).length;
    await until('replicas 0', () => kubectl('get', 'deploy', name, '-o', 'jsonpath={.spec.replicas}') === '0', 60);
    const replicas = kubectl(
      'get',
      'deploy',
      name,
      '-o',
      'jsonpath={.spec.replicas} ({.metadata.annotations.keepwell\\.replicas})',
    );
    console.log(`${name.padEnd(11)}3       ${String(recorded.length).padEnd(10)}${String(right).padEnd(7)}${replicas}`);
    check(`${name}: three deaths, three records, all right`, recorded.length === 3 && right === 3);
  }
  check('what it wrote is in its log', kw('logs', 'web').stdout.includes('hello'));
}

/** So many restarts as Kubernetes counts, so many crashes as we do. */
async function killed(times) {
  configure(`  flaky:\n    ${shell('sleep 3; exit 9')}\n    restart: { limit: { max: 1000, within: 24h } }\n`);
  kw('up', 'flaky', '--timeout', '60s');
  for (let round = 0; round < times; round++) {
    const { pid } = json('status').daemon;
    if (pid) process.kill(pid, 'SIGKILL'); // the guardian brings it back
    await pause(3_000 + (round % 4) * 1_000); // long enough for a death now and then
  }
  await until('a daemon', () => json('status').daemon.answers);
  const counted = () =>
    Number(
      kubectl(
        'get',
        'pods',
        '-l',
        'app.kubernetes.io/name=flaky',
        '-o',
        'jsonpath={.items[0].status.containerStatuses[0].restartCount}',
      ),
    );
  const settled = await until('the counts agree', () => crashesOf('flaky').length >= counted(), 60);
  const [restarts, crashes] = [counted(), crashesOf('flaky')];
  const lost = crashes.filter(({ exit }) => exit.unknown !== null).length;
  console.log(
    `\ndaemon killed ${times} times: ${restarts} restarts, ${crashes.length} crashes recorded, ${lost} with evidence lost`,
  );
  // The last one may be dead and not restarted yet.
  check('every death has one record', settled && crashes.length - restarts <= 1);
  const runs = new Set(crashes.map(({ run_id: run }) => run));
  check('none is doubled', runs.size === crashes.length);
  kw('stop', 'flaky');
}

async function outage(seconds) {
  const pid = Number(readFileSync(join(lab, 'pid/apiserver'), 'utf8'));
  const before = json('crashes', '--limit', '1000').crashes.length;
  process.kill(pid, 'SIGSTOP');
  await pause(seconds * 1_000);
  process.kill(pid, 'SIGCONT');
  await until('web is seen again', () => component('web').ready && component('web').condition === null);
  check(`an outage of ${seconds} s leaves no crash`, json('crashes', '--limit', '1000').crashes.length === before);
  const { restarts } = component('web');
  check('and nothing was restarted for it', restarts === 0);
}

async function lostNode() {
  const node = kubectl('get', 'pods', '-l', 'app.kubernetes.io/name=web', '-o', 'jsonpath={.items[0].spec.nodeName}');
  const before = crashesOf('web').length;
  const { container } = component('web');
  labDo('kill-node', lab, node.slice(1));
  const moved = await until(
    'web runs elsewhere',
    () => component('web').ready && component('web').container !== container,
  );
  check('a lost node is no crash', moved && crashesOf('web').length === before);
}

try {
  const begun = Date.now();
  labDo('up', lab, bin, '2');
  console.log(`the lab is up after ${Math.round((Date.now() - begun) / 1_000)} s`);
  await deaths();
  await outage(30);
  await killed(20);
  await lostNode();
  kw('down');
  const left = kubectl(
    'get',
    'deploy,job,svc,secret,configmap',
    '-l',
    'app.kubernetes.io/managed-by=keepwell',
    '-o',
    'name',
  );
  check('down leaves nothing of ours', left.trim() === '');
} finally {
  kw('down');
  labDo('down', lab);
  for (const dir of [root, project]) rmSync(dir, { recursive: true, force: true });
}
console.log(failures === 0 ? '\nall as it should be' : `\n${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
