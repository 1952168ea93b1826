/** keepwell up: apply the configuration, start the daemon if need be, and wait until everything is ready. */
import { dirname } from 'node:path';
import { Option } from 'commander';
import { ifRunning } from '../../api/client/client.ts';
import type { UpView } from '../../api/control.ts';
import { AppError } from '../../base/pure/errors.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { awaitAction } from '../await-action.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { type CliCall, usage } from '../call.ts';
import { daemonIdentity, untilGone } from '../daemon-end.ts';
import { type Definition, durationOption } from '../define.ts';
import { Interrupted, orInterrupted } from '../interrupt.ts';
import { followLogs } from '../logs/show.ts';
import { resolveTargets } from '../targets.ts';

interface Options {
  readonly wait: boolean;
  readonly timeout: number;
  readonly attach?: true;
}

const HANDOVER_MS = 30_000;
const ATTACH_LINES = 10;

export const up: Definition<Options> = {
  usage: 'up [NAME...]',
  onlyHere:
    'Log in there (ssh) and run it in the folder of the project. Once its daemon runs, "keepwell -H HOST reload" applies an edited configuration and "keepwell -H HOST start --all" starts everything.',
  group: 'Every day:',
  summary: 'apply the configuration and start everything',
  description:
    'Starts the named components (default: all) and what they depend on, and waits until they are ready. ' +
    'A component without a probe is up once it has run for min_uptime, at most 2 s. ' +
    'The exit code is 1 when a component gave up, or has no probe and crashed twice meanwhile. Ctrl-C stops the waiting, not the components.',
  options: [
    new Option('-d, --detach', 'has no effect: components always run in the background'),
    new Option('--no-wait', 'do not wait until everything is ready'),
    durationOption('--timeout <TIME>', 'how long to wait (then exit 5)', '2m'),
    new Option('--attach', 'then print the logs until Ctrl-C'),
  ],
  examples: [
    ['keepwell up', 'everything'],
    ['keepwell up api --attach', 'api and what it needs, then its log'],
    ['keepwell up --no-wait && keepwell wait api --for ready', 'in scripts'],
  ],
  handler: async (call, patterns, options) => {
    if (options.attach && call.json) throw usage('--attach shows logs for people; it does not go with -o json.');
    try {
      return await bringUp(call, patterns, options);
    } catch (error) {
      if (error instanceof Interrupted)
        call.note('interrupted; nothing was stopped ("keepwell status" shows how things are)');
      throw error;
    }
  },
};

export async function bringUp(call: CliCall, patterns: readonly string[], options: Options): Promise<number> {
  const began = performance.now();
  const { project, world } = call;
  const { loadConfig } = await import('../../config/load.ts');
  if (call.files.length === 0 && dirname(project.files[0]!) !== world.cwd) call.note(`using ${project.files[0]}`);
  const config = loadConfig({ ...project, env: world.env }); // mistakes end it here, before anything is touched
  const names = resolveTargets(
    patterns,
    config.components.map(({ name }) => name),
  );
  await ensureDaemon(call, config.name);
  const { components: before } = await call.client.status();
  const applied = await askUp(call, names, config.name);
  noteApplied(call, applied);
  const wanted = applied.components;
  if (!options.wait) {
    if (call.json) call.printJson(await call.client.status());
    call.print(wanted.length === 0 ? 'no components, but the daemon is up' : `asked for: ${wanted.join(', ')}`);
  } else {
    const { status, problem } = await awaitAction(call, {
      action: 'up',
      names: wanted,
      before,
      timeoutMs: options.timeout,
    });
    call.printJson(status);
    if (problem) throw problem;
    const took = formatDuration(performance.now() - began);
    call.print(`${upText(wanted.length)} up (${took})`);
  }
  if (options.attach) await followLogs(call, { names: wanted, tail: ATTACH_LINES });
  return 0;
}

/** A configuration may have sessions or agents alone. */
function upText(components: number): string {
  if (components === 0) return 'no components, but the daemon is';
  return components === 1 ? '1 component is' : `${components} components are`;
}

/** A daemon of this version, whatever was there before. */
async function ensureDaemon(call: CliCall, name: string): Promise<void> {
  const { version } = call.world;
  await awaitDaemon(call);
  const running = await ifRunning(call.client.version());
  if (running === version) return;
  if (running !== null) {
    call.note(`the running daemon is version ${running}; handing over to ${version} (components go on)`);
    const daemon = daemonIdentity(call);
    await call.client.handover();
    await untilGone(call, daemon, { timeoutMs: HANDOVER_MS, pending: () => 'the old daemon is still there' });
    if (daemon?.service) return await followService(call, daemon.service);
  }
  await launch(call, name);
}

/** systemd starts the next one by itself; which version that is, its unit decides. */
async function followService(call: CliCall, unit: string): Promise<void> {
  const { untilServed } = await import('../service/served.ts');
  const version = await untilServed(call, unit);
  if (version !== call.world.version)
    call.note(`${unit} still runs version ${version}; "keepwell service install" makes it use this one`);
}

/** `name`: of the project, which may be a service. */
async function launch(call: CliCall, name: string): Promise<void> {
  const { project, world } = call;
  const { startInstalled } = await import('../service/served.ts');
  if (await startInstalled(call, name)) return;
  call.note('starting the daemon');
  const { launchDaemon } = await import('../../daemon/launch.ts');
  await orInterrupted(launchDaemon({ project, env: world.env, entry: world.entry }), call.signal);
}

/** A daemon that is just going away is waited for and followed by a new one. */
async function askUp(call: CliCall, names: readonly string[], name: string): Promise<UpView> {
  const { files } = call.project;
  const daemon = daemonIdentity(call);
  try {
    return await call.client.up(names, files);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'DAEMON_CLOSING') throw error;
  }
  call.note('the daemon is shutting down; waiting for its end to start a new one');
  await untilGone(call, daemon, {
    timeoutMs: HANDOVER_MS * 4,
    pending: () => 'the old daemon is still stopping components',
  });
  await launch(call, name);
  return await call.client.up(names, files);
}

function noteApplied(call: CliCall, { applied }: UpView): void {
  const { added, changed, removed } = applied;
  const parts = Object.entries({ added, changed, removed }).flatMap(([what, names]) =>
    names.length === 0 ? [] : [`${what}: ${names.join(', ')}`],
  );
  if (parts.length > 0) call.note(parts.join('; '));
}
