/**
 * A real Kubernetes of several nodes on one machine, for `npm run test:kubernetes`: etcd, API server, scheduler and controllers in one network
 * namespace, and for every node a namespace with its own dockerd and kubelet. For Kubernetes up to 1.23, which knows Docker. Needs root, `dockerd`,
 * `busybox`, `ip`, `nsenter`, `openssl`, and a folder with the binaries (see build.sh beside this file).
 *
 *   node scripts/kubernetes/lab.mjs up DIR BIN [NODES]   ends when the nodes are ready; DIR/kubeconfig is for the namespace kwlab-hub
 *   node scripts/kubernetes/lab.mjs kill-node DIR N      as if its power had failed
 *   node scripts/kubernetes/lab.mjs down DIR
 *
 * Only namespaces, processes, mounts and cgroups that are called kwlab-*, or lie in DIR, are made and removed.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const NET = '10.232.0';
const HUB = 'kwlab-hub';
const API = `https://${NET}.254:6443`;

function sh(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28, ...options });
  if (status !== 0 && !options.mayFail) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** In the network namespace, and nothing else: `ip netns exec` would hide the cgroups. */
function start(dir, name, netns, command, args) {
  const out = openSync(join(dir, 'log', `${name}.log`), 'a');
  const inside = ['--net=/run/netns/' + netns, 'unshare', '--uts', 'sh', '-c', `hostname ${netns}; exec "$@"`, 'sh'];
  const child = spawn('nsenter', [...inside, command, ...args], { detached: true, stdio: ['ignore', out, out] });
  closeSync(out);
  writeFileSync(join(dir, 'pid', name), String(child.pid));
  child.unref();
}

async function until(what, fact) {
  for (let left = 600; left > 0; left--) {
    if (fact()) return;
    await pause(200);
  }
  throw new Error(`the lab waited in vain for ${what}`);
}

const kubectl = (dir, bin, ...args) =>
  sh('nsenter', [`--net=/run/netns/${HUB}`, join(bin, 'kubectl'), '--kubeconfig', join(dir, 'kubeconfig'), ...args], {
    mayFail: true,
  });

/** Busybox and its links: all that containers of the lab need. */
function rootfs(dir) {
  const root = join(dir, 'rootfs');
  mkdirSync(join(root, 'bin'), { recursive: true });
  for (const folder of ['tmp', 'etc', 'dev', 'proc', 'sys']) mkdirSync(join(root, folder));
  sh('cp', [sh('sh', ['-c', 'command -v busybox']).trim(), join(root, 'bin/busybox')]);
  for (const tool of sh('busybox', ['--list']).split('\n'))
    if (tool !== '' && tool !== 'busybox') sh('ln', ['-sf', 'busybox', join(root, 'bin', tool)]);
  sh('tar', ['-C', root, '-cf', join(dir, 'rootfs.tar'), '.']);
}

async function nodeUp(dir, bin, number) {
  const own = join(dir, `n${number}`);
  for (const folder of ['data', 'exec', 'kubelet']) mkdirSync(join(own, folder), { recursive: true });
  const netns = `kwlab-n${number}`;
  const socket = `unix://${join(own, 'docker.sock')}`;
  const runtime = { 'default-runtime': 'lab', runtimes: { lab: { path: join(dir, 'runc') } } };
  writeFileSync(join(own, 'daemon.json'), JSON.stringify(runtime));
  start(dir, `dockerd${number}`, netns, 'dockerd', [
    ...['--config-file', join(own, 'daemon.json'), '--data-root', join(own, 'data'), '--exec-root', join(own, 'exec')],
    ...['--pidfile', join(own, 'dockerd.pid'), '-H', socket, '--cgroup-parent', `/${netns}`],
    ...['--bip', `10.235.${number}.1/24`, '--log-level', 'warn'],
  ]);
  await until(`dockerd ${number}`, () => sh('docker', ['-H', socket, 'version'], { mayFail: true }).includes('Server'));
  const image = (change, name) =>
    sh('docker', ['-H', socket, 'import', '--change', change, join(dir, 'rootfs.tar'), name]);
  image('CMD ["sh"]', 'kwlab:1');
  image('ENTRYPOINT ["sh","-c","trap \\"exit 0\\" TERM INT; while :; do sleep 3600 & wait; done"]', 'pause:1');
  start(dir, `kubelet${number}`, netns, join(bin, 'kubelet'), [
    ...[`--kubeconfig=${join(dir, 'kubeconfig')}`, '--container-runtime=docker', `--docker-endpoint=${socket}`],
    ...[`--root-dir=${join(own, 'kubelet')}`, `--cert-dir=${join(own, 'pki')}`, `--hostname-override=n${number}`],
    ...[`--node-ip=${NET}.${number}`, '--pod-infra-container-image=pause:1', '--cgroup-driver=cgroupfs'],
    ...['--cgroups-per-qos=false', '--enforce-node-allocatable=', '--fail-swap-on=false', '--anonymous-auth=true'],
    ...[
      '--authorization-mode=AlwaysAllow',
      '--read-only-port=0',
      '--healthz-port=0',
      '--eviction-hard=memory.available<50Mi',
    ],
    ...['--cluster-domain=lab', '--resolv-conf=/dev/null', '--node-status-update-frequency=2s', '--max-pods=300'],
    ...[
      `--volume-plugin-dir=${join(own, 'vol')}`,
      `--experimental-dockershim-root-directory=${join(own, 'dockershim')}`,
    ],
    ...[`--cni-conf-dir=${join(own, 'cni')}`, `--cni-bin-dir=${join(own, 'cnibin')}`, '--serialize-image-pulls=false'],
    ...['--registry-qps=0', '--event-qps=0'],
  ]);
}

function network(nodes) {
  sh('ip', ['netns', 'add', HUB]);
  const ip = (netns, ...args) => sh('ip', ['-n', netns, ...args]);
  ip(HUB, 'link', 'set', 'lo', 'up');
  ip(HUB, 'link', 'add', 'br0', 'type', 'bridge');
  ip(HUB, 'addr', 'add', `${NET}.254/24`, 'dev', 'br0');
  ip(HUB, 'link', 'set', 'br0', 'up');
  for (let number = 1; number <= nodes; number++) {
    const netns = `kwlab-n${number}`;
    sh('ip', ['netns', 'add', netns]);
    ip(netns, 'link', 'set', 'lo', 'up');
    ip(HUB, 'link', 'add', `p${number}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', netns);
    ip(HUB, 'link', 'set', `p${number}`, 'master', 'br0', 'up');
    ip(netns, 'addr', 'add', `${NET}.${number}/24`, 'dev', 'eth0');
    ip(netns, 'link', 'set', 'eth0', 'up');
    ip(netns, 'route', 'add', 'default', 'via', `${NET}.254`);
  }
}

/** What a machine without CAP_SYS_RESOURCE may not do: the kubelet asks for a negative oom_score_adj. */
const RUNC = `#!/bin/sh
bundle=; last=
for arg in "$@"; do [ "$last" = --bundle ] && bundle=$arg; last=$arg; done
[ -n "$bundle" ] && sed -i -E 's/"oomScoreAdj":-[0-9]+/"oomScoreAdj":0/' "$bundle/config.json"
exec runc "$@"
`;

function control(dir, bin) {
  const conf = `--kubeconfig=${join(dir, 'kubeconfig')}`;
  const auth = ['authentication', 'authorization'].map((what) => `--${what}-kubeconfig=${join(dir, 'kubeconfig')}`);
  const key = join(dir, 'tls.key');
  return {
    etcd: () =>
      start(dir, 'etcd', HUB, join(bin, 'etcd'), [
        ...['--data-dir', join(dir, 'etcd'), '--unsafe-no-fsync', '--listen-peer-urls', 'http://127.0.0.1:2380'],
        ...['--listen-client-urls', 'http://127.0.0.1:2379', '--advertise-client-urls', 'http://127.0.0.1:2379'],
      ]),
    apiserver: () =>
      start(dir, 'apiserver', HUB, join(bin, 'kube-apiserver'), [
        ...['--etcd-servers=http://127.0.0.1:2379', `--bind-address=${NET}.254`, `--advertise-address=${NET}.254`],
        ...['--secure-port=6443', `--tls-cert-file=${join(dir, 'tls.crt')}`, `--tls-private-key-file=${key}`],
        ...[`--token-auth-file=${join(dir, 'tokens.csv')}`, '--authorization-mode=RBAC', '--allow-privileged=true'],
        ...['--service-cluster-ip-range=10.96.0.0/16', '--service-account-issuer=https://lab', `--cert-dir=${dir}`],
        ...[`--service-account-signing-key-file=${key}`, `--service-account-key-file=${key}`],
        ...['--kubelet-preferred-address-types=InternalIP', '--default-unreachable-toleration-seconds=5'],
        '--default-not-ready-toleration-seconds=5',
      ]),
    scheduler: () =>
      start(dir, 'scheduler', HUB, join(bin, 'kube-scheduler'), [
        conf,
        ...auth,
        '--leader-elect=false',
        `--cert-dir=${dir}`,
      ]),
    controllers: () =>
      start(dir, 'controllers', HUB, join(bin, 'kube-controller-manager'), [
        ...[conf, ...auth, '--leader-elect=false', `--cert-dir=${dir}`, `--service-account-private-key-file=${key}`],
        ...[`--root-ca-file=${join(dir, 'tls.crt')}`, '--node-monitor-grace-period=20s', '--node-monitor-period=1s'],
        '--pod-eviction-timeout=5s',
      ]),
  };
}

async function up(dir, bin, nodes) {
  for (const folder of ['log', 'pid', 'etcd']) mkdirSync(join(dir, folder), { recursive: true });
  const names = `subjectAltName=IP:${NET}.254,DNS:localhost`;
  const files = ['-keyout', join(dir, 'tls.key'), '-out', join(dir, 'tls.crt')];
  sh('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=lab',
    '-addext',
    names,
    ...files,
  ]);
  writeFileSync(join(dir, 'tokens.csv'), 'lab-token,admin,admin,system:masters\n');
  writeFileSync(join(dir, 'runc'), RUNC, { mode: 0o755 });
  const kubeconfig = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'lab' },
    clusters: [{ name: 'lab', cluster: { server: API, 'certificate-authority': join(dir, 'tls.crt') } }],
    users: [{ name: 'admin', user: { token: 'lab-token' } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'admin' } }],
  };
  writeFileSync(join(dir, 'kubeconfig'), JSON.stringify(kubeconfig));
  network(nodes);
  rootfs(dir);
  const { etcd, apiserver, scheduler, controllers } = control(dir, bin);
  etcd();
  apiserver();
  await until('the API server', () => kubectl(dir, bin, 'get', '--raw', '/readyz') === 'ok');
  scheduler();
  for (let number = 1; number <= nodes; number++) await nodeUp(dir, bin, number);
  const ready = () =>
    kubectl(dir, bin, 'get', 'nodes', '--no-headers')
      .split('\n')
      .filter((line) => /\bReady\b/.test(line));
  await until('the nodes', () => ready().length === nodes);
  controllers(); // before the nodes are ready it would take all of them for lost
  await until('the account of pods', () => kubectl(dir, bin, 'get', 'sa', 'default', '-o', 'name').includes('default'));
}

/** Processes of a node: what names its folder, and what is in its cgroup. */
function ofNode(dir, number) {
  const [place, cgroup] = [join(dir, `n${number}/`), `/kwlab-n${number}/`];
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => {
      try {
        const says = (file) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
        return says('cmdline').includes(place) || says('cgroup').includes(cgroup);
      } catch {
        return false; // gone meanwhile
      }
    })
    .map(Number);
}

function kill(pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // gone meanwhile
    }
  }
}

const killNode = (dir, number) => kill(ofNode(dir, number));

async function down(dir) {
  const nodes = readdirSync(dir)
    .filter((name) => /^n\d+$/.test(name))
    .map((name) => Number(name.slice(1)));
  for (const name of ['scheduler', 'controllers', 'apiserver', 'etcd']) {
    const file = join(dir, 'pid', name);
    if (existsSync(file)) kill([Number(readFileSync(file, 'utf8'))]);
  }
  for (let tries = 0; tries < 5; tries++) {
    for (const number of nodes) killNode(dir, number);
    await pause(200);
  }
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const mount of mounts.filter((path) => path.startsWith(`${dir}/`)).reverse())
    sh('umount', ['-l', mount], { mayFail: true });
  for (const name of [HUB, ...nodes.map((number) => `kwlab-n${number}`)])
    sh('ip', ['netns', 'del', name], { mayFail: true });
  removeCgroups('/sys/fs/cgroup', 0);
  rmSync(dir, { recursive: true, force: true });
}

function removeCgroups(dir, depth, isOurs = false) {
  if (depth > 6) return;
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    try {
      if (!statSync(path).isDirectory()) continue;
      const inside = isOurs || /^kwlab-n\d+$/.test(name);
      removeCgroups(path, depth + 1, inside);
      if (inside) rmdirSync(path);
    } catch {
      // somebody else's, or gone
    }
  }
}

const [command, dir, ...rest] = process.argv.slice(2);
if (command === 'up') await up(dir, rest[0], Number(rest[1] ?? 2));
else if (command === 'kill-node') killNode(dir, Number(rest[0]));
else if (command === 'down') await down(dir);
else {
  console.error('usage: lab.mjs up DIR BIN [NODES] | kill-node DIR N | down DIR');
  process.exit(2);
}
