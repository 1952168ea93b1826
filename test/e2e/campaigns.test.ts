/** Campaigns as researchers run them: on a real Docker Engine, with services that wedge, and with the campaign itself killed. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { CampaignsView, CampaignView } from '../../src/campaigns/rules/views.ts';
import type { WhyView } from '../../src/supervision/rules/views.ts';
import { type ComposeVersion, composeEnv, thingsOf } from '../support/compose.ts';
import { type TestEngine, useEngine } from '../support/engine.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const engineOr = useEngine();

/** Only against waiting for ever: thirty experiments and ten starts of services take their time on a busy machine. */
const GUARD = { timeout: 900_000 };

/** The fake nvidia-smi of the example: no GPU is needed, and none is found broken. */
const NVIDIA_SMI = resolve('examples/gpu-campaign/backend/nvidia-smi');

/** Three services, of which the campaign needs two. A restart of a backend makes its GPU well again; "nvml" takes a new container. */
const COMPOSE = `
services:
  pytorch: &backend
    image: keepwell-test
    init: true
    command: ["sh", "-c", "rm -rf /gpu/state; exec sleep 1000000"]
    volumes: ["${NVIDIA_SMI}:/bin/nvidia-smi:ro", "./work.sh:/work.sh:ro", "./data:/data"]
    healthcheck: { test: ["CMD", "sh", "-c", "test ! -e /gpu/state/wedged"], interval: 1s, timeout: 20s, retries: 1 }
  vllm: { <<: *backend }
  tensorrt: { <<: *backend }
`;

/** Experiments 7, 15 and 22 wedge their service the first time: it hangs, it has no GPU memory left, it has lost its GPU. */
const WORK = `#!/bin/sh
TRACEBACK='Traceback (most recent call last):
  File "/work/train.py", line 12, in <module>
    step()
RuntimeError: CUDA out of memory'
echo "$1" >>/data/begun
trouble() { [ ! -e "/data/trouble-$1" ] && : >"/data/trouble-$1"; }
case $1 in
  *-7) trouble 7 && { mkdir -p /gpu/state; : >/gpu/state/wedged; sleep 1000000; } ;;
  *-15) trouble 15 && { mkdir -p /gpu/state; echo high >/gpu/state/mode; echo "$TRACEBACK"; exit 1; } ;;
  *-22) trouble 22 && { mkdir -p /gpu; echo nvml >/gpu/mode; exit 1; } ;;
esac
[ -e /data/slow ] && sleep 1000000
sleep 0.1
mkdir -p /results
echo "result of $1" >"/results/$1.txt"
echo "$1 is done"
echo "$1" >>/data/ended`;

const SEEDS = Array.from({ length: 30 }, (_, index) => `"${index + 1}"`);
const NIGHT = (seeds: readonly string[]) => `
campaign: night
command: [sh, /work.sh, "{name}"]
experiments:
  - { service: pytorch, matrix: { env: { SEED: [${seeds.slice(0, 18)}] } } }
${seeds.length > 18 ? `  - { service: vllm, matrix: { env: { SEED: [${seeds.slice(18)}] } } }` : ''}
health: { every: 1s }
cool_down: 100ms
artifacts: [{ from: "/results/{name}.txt", to: "results/{name}" }]
`;

class Scene implements AsyncDisposable {
  readonly engine: TestEngine;
  readonly project: TestProject;
  readonly name = `campaign-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;

  constructor(version: ComposeVersion, seeds: readonly string[], skip: (note: string) => never) {
    this.engine = engineOr(skip);
    this.project = new TestProject('components: { idle: { process: { command: [sleep, "1000"] } } }');
    this.project.write('docker-compose.yml', COMPOSE);
    this.project.write('work.sh', WORK);
    this.project.write('night.yaml', NIGHT(seeds));
    mkdirSync(this.project.path('data'));
    this.env = {
      ...composeEnv(version, this.project.dir, skip),
      ...this.engine.env,
      COMPOSE_PROJECT_NAME: this.name,
    };
  }

  readonly env: Readonly<Record<string, string>>;
  /** What all that was started has printed, for when one ends otherwise than expected. */
  #said = '';

  start(...args: readonly string[]): ChildProcess {
    const child = this.project.start(['campaign', ...args], this.env);
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#said += text;
      });
    return child;
  }
  cli(...args: readonly string[]) {
    return this.project.cliWith(this.env, 'campaign', ...args);
  }
  lines(name: 'begun' | 'ended'): readonly string[] {
    return this.project.read(`data/${name}`).split('\n').filter(Boolean);
  }
  async expectEnd(child: ChildProcess, code: number): Promise<void> {
    expect(await exitOf(child), this.#said).toBe(code);
  }
  async shown(): Promise<CampaignView> {
    return JSON.parse((await this.cli('show', '-o', 'json')).stdout) as CampaignView;
  }
  things(): Promise<readonly string[]> {
    return thingsOf(this.engine, this.name);
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.cli('teardown');
    await this.project[Symbol.asyncDispose]();
  }
}

const exitOf = async (child: ChildProcess): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
};

const names = (count: number) =>
  Array.from({ length: count }, (_, index) => `${index < 18 ? 'pytorch' : 'vllm'}-${index + 1}`);

/** Of each attempt that failed, with and without a daemon. */
async function expectDossiers(project: TestProject): Promise<void> {
  const crashes = await project.crashes();
  const experiment = (name: string) => ({ subject: { kind: 'experiment', name }, decision: 'tried again (1 of 2)' });
  expect(crashes).toMatchObject([
    { ...experiment('night/vllm-22'), exit: { code: 1 } },
    {
      ...experiment('night/pytorch-15'),
      error_type: 'RuntimeError',
      error_message: 'CUDA out of memory',
      incident: null,
    },
    { ...experiment('night/pytorch-7'), exit: { code: null } },
  ]);
  const why = async () => JSON.parse(await project.ok('-o', 'json', 'why', 'night/pytorch-15')) as WhyView;
  const offline = await why();
  expect(offline).toMatchObject({ id: crashes[1]!.id, related_files: ['/work/train.py'] });
  await project.ok('up');
  expect(await why()).toEqual(offline);
  await project.ok('down');
}

test.concurrent(
  'thirty experiments are finished although their service wedges three times, in the two services that they need',
  GUARD,
  async ({ skip }) => {
    await using scene = new Scene('1', SEEDS, skip);
    const child = scene.start('run', 'night.yaml');
    await waitFor('the first experiment', () => scene.lines('begun').length > 0);
    const up = await scene.things();
    expect(up.filter((thing) => thing.startsWith('container'))).toHaveLength(2);
    expect(up.join()).not.toContain('tensorrt');
    await scene.expectEnd(child, 0);
    expect([...scene.lines('ended')].sort()).toEqual([...names(30)].sort());
    const view = await scene.shown();
    expect(view).toMatchObject({ campaign: 'night', state: 'done', done: 30, failed: 0, total: 30 });
    const attempts = view.experiments.filter((one) => one.attempts > 1).map((one) => `${one.name} ${one.attempts}`);
    expect(attempts).toEqual(['pytorch-7 2', 'pytorch-15 2', 'vllm-22 2']);
    await expectDossiers(scene.project);
    expect(scene.project.read('results/vllm-30/vllm-30.txt')).toBe('result of vllm-30\n');
    expect(scene.project.read('.keepwell/campaigns/night/pytorch-7.log')).toBe('pytorch-7 is done\n');
    expect(await scene.things()).toEqual([]);
  },
);

test.concurrent(
  'the same campaign, killed five times and resumed: each experiment runs to its end exactly once',
  GUARD,
  async ({ skip }) => {
    await using scene = new Scene('2', SEEDS, skip);
    let child = scene.start('run', 'night.yaml');
    for (const begun of [2, 7, 12, 18, 25]) {
      await waitFor(`experiment ${begun}`, () => scene.lines('begun').length >= begun);
      child.kill('SIGKILL');
      await exitOf(child);
      expect(await scene.shown()).toMatchObject({ state: 'interrupted', reason: 'its process was killed' });
      child = scene.start('resume');
    }
    await scene.expectEnd(child, 0);
    expect([...scene.lines('ended')].sort()).toEqual([...names(30)].sort());
    expect(await scene.shown()).toMatchObject({ state: 'done', done: 30, failed: 0 });
    expect(await scene.things()).toEqual([]);
    await scene.expectEnd(scene.start('resume', 'night'), 0);
    expect(scene.lines('ended')).toHaveLength(30);
  },
);

test.concurrent(
  'Ctrl-C ends the experiment and leaves nothing, twice leaves nothing at once; killed, the next teardown or run clears away',
  GUARD,
  async ({ skip }) => {
    await using scene = new Scene('2', SEEDS.slice(0, 3), skip);
    scene.project.write('data/slow', '');
    const begins = async (...args: readonly string[]) => {
      const before = scene.lines('begun').length;
      const child = scene.start(...args);
      await waitFor('an experiment to begin', () => scene.lines('begun').length > before);
      return child;
    };
    const first = await begins('run', 'night.yaml');
    expect((await scene.cli('resume')).stderr).toContain('is in use by another campaign');
    first.kill('SIGINT');
    await scene.expectEnd(first, 130);
    expect(await scene.things()).toEqual([]);
    expect(await scene.shown()).toMatchObject({
      state: 'interrupted',
      experiments: [{ state: 'pending', attempts: 1 }, {}, {}],
    });

    expect((await scene.cli('run', 'night.yaml')).stderr).toContain(
      'There is already an unfinished campaign called night',
    );
    const second = await begins('resume');
    second.kill('SIGINT');
    second.kill('SIGINT');
    await scene.expectEnd(second, 130);
    expect(await scene.things()).toEqual([]);

    const third = await begins('resume');
    third.kill('SIGKILL');
    await exitOf(third);
    expect(await scene.things()).not.toEqual([]);
    expect(await scene.cli('teardown')).toMatchObject({ code: 0, stdout: 'put away: night\n' });
    expect(await scene.things()).toEqual([]);

    rmSync(scene.project.path('data/slow'));
    const kept = await scene.cli('resume', '--keep');
    expect(kept.code, `${kept.stdout}${kept.stderr}`).toBe(0);
    expect((await scene.things()).filter((thing) => thing.startsWith('container'))).toHaveLength(1);
    const { campaigns } = JSON.parse((await scene.cli('list', '-o', 'json')).stdout) as CampaignsView;
    expect(campaigns).toMatchObject([{ campaign: 'night', state: 'done', done: 3, total: 3 }]);
    const again = await scene.cli('run', 'night.yaml', '--only', 'pytorch-2', '-o', 'json');
    expect(JSON.parse(again.stdout)).toMatchObject({ campaign: 'night-2', state: 'done', total: 1 });
    expect(again.stderr).toContain('the campaign night left services behind');
    expect(await scene.things()).toEqual([]);
  },
);
