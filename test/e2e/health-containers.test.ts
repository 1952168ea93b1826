/** "Is it healthy?", as its users ask it, about a real container of a Docker Engine that is then stopped, held up and killed. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { HealthReport } from '../../src/checks/spec.ts';
import { type PrivateEngine, startEngine, TestEngine } from '../support/engine.ts';
import { ENTRY, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const NODE = process.execPath;
const SANDBOX = 'ktrdr-sandbox';
const CREDENTIALS = '/home/ubuntu/.claude/credentials.json';

/** The checks of the users, and one component for the daemon to look after. */
const CONFIG = `
components:
  idle: { process: { command: [sleep, "1000"] } }
checks:
  sandbox:      { container_running: ktrdr-sandbox, hint: "run ./scripts/sandbox-init.sh" }
  claude_auth:  { needs: [sandbox], file_exists: { in: ktrdr-sandbox, any_of: [/home/ubuntu/.claude/credentials.json, /root/.claude/credentials.json] }, hint: "not logged in - run 'claude login' in sandbox" }
  github_token: { needs: [sandbox], env_set: { in: ktrdr-sandbox, name: GH_TOKEN }, hint: "GH_TOKEN not set - check sandbox environment" }
  orchestrator: { state_file: { path: state.json, idle_when_missing: true } }
`;

/** What is healthy, and the few words of each check. */
const SANDBOX_OK = { status: 'ok', message: 'container running' };
const ORCHESTRATOR_OK = { status: 'ok', message: 'working on task 3.2' };
const SKIPPED = { status: 'skipped', message: 'sandbox not running' };
const ALL_OK = {
  sandbox: SANDBOX_OK,
  claude_auth: { status: 'ok', message: `${CREDENTIALS} exists` },
  github_token: { status: 'ok', message: 'GH_TOKEN is set' },
  orchestrator: ORCHESTRATOR_OK,
};
/** The sandbox has failed, for this reason. */
const withoutSandbox = (message: RegExp) => ({
  sandbox: {
    status: 'failed',
    message: expect.stringMatching(new RegExp(`${message.source}.* - run \\./scripts/sandbox-init\\.sh$`)),
  },
  claude_auth: SKIPPED,
  github_token: SKIPPED,
  orchestrator: ORCHESTRATOR_OK,
});

class Scene implements AsyncDisposable {
  readonly engine: PrivateEngine;
  readonly docker: TestEngine;
  readonly project: TestProject;

  constructor(engine: PrivateEngine, config: string) {
    this.engine = engine;
    this.docker = new TestEngine(engine.socketPath);
    this.project = new TestProject(config, this.docker.env);
    this.project.write('state.json', '{ "status": "working", "task": "3.2" }');
  }

  static async open(skip: (note: string) => never, config = CONFIG): Promise<Scene> {
    const scene = new Scene(await engineOr(skip), config);
    try {
      const script = `mkdir -p /home/ubuntu/.claude; echo '{}' >${CREDENTIALS}; exec sleep 1000`;
      await scene.docker.create(SANDBOX, { command: ['sh', '-c', script], env: ['GH_TOKEN=s3cret'] });
      await scene.docker.act(SANDBOX, 'start');
      await waitFor('everything to be well', async () => (await scene.health()).code === 0);
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** One document on stdout and nothing else, whatever happened; and nowhere a stack trace or a secret. */
  async health(...args: readonly string[]): Promise<{ code: number | null; report: HealthReport }> {
    const { code, stdout, stderr } = await this.project.cli('health', ...args);
    expect(stdout + stderr).not.toMatch(/^\s+at .+:\d+|s3cret/m);
    return { code, report: JSON.parse(stdout) as HealthReport };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.project[Symbol.asyncDispose]();
    await this.engine[Symbol.asyncDispose]();
  }
}

async function engineOr(skip: (note: string) => never): Promise<PrivateEngine> {
  try {
    return await startEngine();
  } catch (error) {
    if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw error;
    return skip((error as Error).message);
  }
}

const hasJq = spawnSync('jq', ['--version']).status === 0;
/** What the users' scripts pipe it through. */
const STATUS_OF_SANDBOX = hasJq
  ? 'jq -r .checks.sandbox.status'
  : `node -p 'JSON.parse(fs.readFileSync(0)).checks.sandbox.status'`;

test('all is well, then the sandbox is stopped, and started again: without a daemon and with one', async ({ skip }) => {
  await using scene = await Scene.open(skip);
  await stopAndStart(scene);
  await scene.project.ok('up');
  await stopAndStart(scene);
});

async function stopAndStart(scene: Scene): Promise<void> {
  const { docker, project } = scene;
  const well = await scene.health();
  expect(well).toEqual({
    code: 0,
    report: { status: 'healthy', timestamp: expect.stringMatching(/^\d{4}-.*Z$/), checks: ALL_OK },
  });
  expect(Object.keys(well.report.checks)).toEqual(['sandbox', 'claude_auth', 'github_token', 'orchestrator']);
  const piped = spawnSync('sh', ['-c', `"$0" "$1" health --check sandbox | ${STATUS_OF_SANDBOX}`, NODE, ENTRY], {
    cwd: project.dir,
    env: { ...process.env, ...docker.env },
    encoding: 'utf8',
  });
  expect(piped.stdout).toBe('ok\n');

  await docker.act(SANDBOX, 'stop?t=0');
  expect(await scene.health()).toMatchObject({
    code: 1,
    report: {
      status: 'unhealthy',
      checks: withoutSandbox(/^container "ktrdr-sandbox" is stopped \(exit code 137, at .*docker start/),
    },
  });
  // Asked alone, what it needs is not asked; then it says itself what is wrong.
  const alone = await scene.health('--check', 'claude_auth');
  expect(alone.code).toBe(1);
  expect(alone.report.checks).toEqual({
    claude_auth: {
      status: 'failed',
      message: expect.stringMatching(
        /container "ktrdr-sandbox" is stopped .* - not logged in - run 'claude login' in sandbox$/,
      ),
    },
  });

  await docker.act(SANDBOX, 'start');
  await waitFor('all to be well again', async () => (await scene.health()).code === 0);
}

test('an Engine that hangs, is killed in the middle of a check, and is gone, makes its checks fail and no other', async ({
  skip,
}) => {
  await using scene = await Scene.open(skip, CONFIG.replace('container_running: ktrdr-sandbox,', '$& timeout: 1s,'));
  const { engine } = scene;
  process.kill(engine.pid, 'SIGSTOP');
  expect(await scene.health()).toMatchObject({
    code: 1,
    report: { checks: withoutSandbox(/^no answer within 1 s from the Docker Engine: it hangs or is overloaded/) },
  });

  scene.project.configure(CONFIG);
  const before = connections(engine.socketPath);
  const asking = scene.health();
  await waitFor('the question to be put', () => connections(engine.socketPath) > before);
  process.kill(engine.pid, 'SIGKILL');
  expect(await asking).toMatchObject({
    code: 1,
    report: { checks: withoutSandbox(/^the Docker Engine (at .* gave no usable answer|is not running)/) },
  });

  expect(await scene.health()).toMatchObject({
    code: 1,
    report: {
      checks: withoutSandbox(
        /^the Docker Engine is not running, nobody listens on .*docker\.sock \(named by DOCKER_HOST\): start it/,
      ),
    },
  });
});

/** Connections to a socket, also those that are not accepted yet. */
const connections = (socketPath: string): number =>
  readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => line.endsWith(` ${socketPath}`)).length;
