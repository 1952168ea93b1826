/** Campaigns while the Docker Engine is ended and begun again under them. Nothing of that may count against anybody. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import type { CampaignView } from '../../src/campaigns/rules/views.ts';
import { composeEnv, thingsOf } from '../support/compose.ts';
import { type PrivateEngine, type PrivateEngineOptions, startEngine, TestEngine } from '../support/engine.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** Only against waiting for ever. */
const GUARD = { timeout: 300_000 };

/** It comes up when told, is unhealthy when told, and takes its time to end when told. */
const COMPOSE = `
services:
  gpu:
    image: keepwell-test
    network_mode: none
    stop_grace_period: 60s
    command:
      - sh
      - -c
      - |
        trap 'echo >>/data/ending; while test -e /data/dawdle; do sleep 0.05; done; exit 0' TERM
        echo >>/data/started
        until test -e /data/ready; do sleep 0.05; done
        rm -f /wedged
        : >/up
        while :; do sleep 0.05; done
    volumes: ["./data:/data", "./work.sh:/work.sh:ro"]
    healthcheck: { test: ["CMD", "sh", "-c", "test -e /up -a ! -e /wedged"], interval: 1s, timeout: 20s, retries: 2 }
`;
const WORK = `
echo "$1" >>/data/begun
until test -e "/data/go-$1"; do echo tick; sleep 0.1; done
if test -e /data/wedge; then rm /data/wedge /data/ready /up; : >/wedged; sleep 1000000; fi
mkdir -p /results; echo "of $1" >/results/result.txt
echo "$1" >>/data/ended`;

/** Nothing is allowed: whatever is spent shows. */
const NIGHT = (allowed: number) => `
campaign: night
command: [sh, /work.sh, "{name}"]
experiments: [{ name: a, service: gpu }, { name: b, service: gpu }]
retries: ${allowed}
health: { max_restarts: ${allowed}, every: 500ms }
cool_down: 100ms
artifacts: [{ from: /results, to: "results/{name}" }]
`;

const AWAY = /waiting for the Docker Engine/g;
const BACK = /the Docker Engine is back/g;

class Scene implements AsyncDisposable {
  readonly engine: PrivateEngine;
  readonly project: TestProject;
  readonly #docker: TestEngine;
  readonly #name = `outage-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  readonly #env: Readonly<Record<string, string>>;
  said = '';

  constructor(engine: PrivateEngine, allowed: number, skip: (note: string) => never) {
    this.engine = engine;
    this.#docker = new TestEngine(engine.socketPath);
    this.project = new TestProject('components: { idle: { process: { command: [sleep, "1000"] } } }');
    this.project.write('docker-compose.yml', COMPOSE);
    this.project.write('work.sh', WORK);
    this.project.write('night.yaml', NIGHT(allowed));
    mkdirSync(this.project.path('data'));
    this.#env = {
      ...composeEnv('2', this.project.dir, skip),
      ...this.#docker.env,
      COMPOSE_PROJECT_NAME: this.#name,
    };
  }

  start(...args: readonly string[]): ChildProcess {
    const child = this.project.start(['campaign', ...args], this.#env);
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.said += text;
      });
    return child;
  }
  cli(...args: readonly string[]) {
    return this.project.cliWith(this.#env, 'campaign', ...args);
  }
  tell(...facts: readonly string[]): void {
    for (const fact of facts) this.project.write(`data/${fact}`, '');
  }
  times(what: 'begun' | 'ended' | 'started' | 'ending'): number {
    return this.project.read(`data/${what}`).split('\n').length - 1;
  }
  count(pattern: RegExp): number {
    return this.said.match(pattern)?.length ?? 0;
  }
  /** Ends the Engine and begins it again when the campaign has said so, once. */
  async outage(signal: 'SIGKILL' | 'SIGTERM', meanwhile: () => void = () => {}): Promise<void> {
    const before = this.count(AWAY);
    await this.engine.end(signal);
    await waitFor('the campaign to say that the Engine is away', () => this.count(AWAY) > before);
    meanwhile();
    await this.engine.begin();
    await waitFor('the campaign to say that the Engine is back', () => this.count(BACK) > before);
    expect(this.count(AWAY), this.said).toBe(before + 1);
  }
  async end(child: ChildProcess): Promise<number | null> {
    if (child.exitCode === null) await once(child, 'close');
    return child.exitCode;
  }
  async shown(): Promise<CampaignView> {
    return JSON.parse((await this.cli('show', '-o', 'json')).stdout) as CampaignView;
  }
  things(): Promise<readonly string[]> {
    return thingsOf(this.#docker, this.#name);
  }
  /** Each experiment has come to its end exactly once, and nothing is left. */
  async expectDone(child: ChildProcess, attempts: readonly number[]): Promise<void> {
    expect(await this.end(child), this.said).toBe(0);
    const view = await this.shown();
    expect(view, this.said).toMatchObject({ state: 'done', done: 2, failed: 0 });
    expect(
      view.experiments.map((one) => one.attempts),
      this.said,
    ).toEqual(attempts);
    expect(this.times('ended')).toBe(2);
    expect(this.project.read('results/a/result.txt')).toBe('of a\n');
    expect(await this.things()).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.project[Symbol.asyncDispose]();
    await this.engine[Symbol.asyncDispose]();
  }
}

async function open(options: PrivateEngineOptions, allowed: number, { skip }: TestContext): Promise<Scene> {
  try {
    const scene = new Scene(await startEngine(options), allowed, skip);
    onTestFinished(() => scene[Symbol.asyncDispose]());
    return scene;
  } catch (error) {
    if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw error;
    return skip((error as Error).message);
  }
}

test(
  'an Engine that takes everything along: an experiment is tried again, and neither a retry nor a restart is spent',
  GUARD,
  async (context) => {
    const scene = await open({}, 0, context);
    const child = scene.start('run', 'night.yaml');
    await waitFor('the service to be started', () => scene.times('started') > 0);
    await scene.outage('SIGKILL');
    scene.tell('ready');
    await waitFor('the first experiment', () => scene.times('begun') === 1);
    await scene.outage('SIGTERM');
    await waitFor('the first experiment again', () => scene.times('begun') === 2);
    scene.tell('go-a', 'go-b', 'dawdle');
    const endings = scene.times('ending');
    await waitFor('the teardown', () => scene.times('ending') > endings);
    await scene.outage('SIGKILL', () => rmSync(scene.project.path('data/dawdle')));
    await scene.expectDone(child, [2, 1]);
  },
);

test('during the restart of a service that wedged: it is made again, and counts once', GUARD, async (context) => {
  const scene = await open({}, 1, context);
  scene.tell('ready', 'wedge', 'go-a', 'go-b');
  const child = scene.start('run', 'night.yaml');
  await waitFor('the restart', () => scene.times('started') === 2);
  await scene.outage('SIGTERM');
  scene.tell('ready');
  await scene.expectDone(child, [2, 1]);
});

test(
  'an Engine without its containers: the experiment goes on, Ctrl-C says what is left, and a resume finds it',
  GUARD,
  async (context) => {
    const scene = await open({ liveRestore: true }, 0, context);
    scene.tell('ready');
    const child = scene.start('run', 'night.yaml');
    await waitFor('the first experiment', () => scene.times('begun') === 1);
    await scene.outage('SIGKILL');
    const ticks = () => scene.said.match(/tick/g)?.length ?? 0;
    const before = ticks();
    await waitFor('its output to go on', () => ticks() > before);
    await scene.engine.end('SIGTERM');
    await waitFor('the campaign to say so', () => scene.count(AWAY) === 2);
    child.kill('SIGINT');
    expect(await scene.end(child)).toBe(130);
    expect(scene.said).toContain('keepwell campaign teardown night');
    const vain = await scene.cli('teardown');
    expect(vain).toMatchObject({ code: 1, stdout: 'not put away: night\n' });
    const early = await scene.cli('resume');
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('The Docker Engine cannot be reached') });
    await scene.engine.begin();
    const resumed = scene.start('resume');
    await waitFor('the experiment to be found', () => scene.said.includes('found again: a'));
    scene.tell('go-a', 'go-b');
    await scene.expectDone(resumed, [1, 1]);
  },
);
