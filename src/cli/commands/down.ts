/** keepwell down: stop everything in order, then the daemon, and say the truth about what is left. */

import { Option } from 'commander';
import { ifRunning } from '../../api/client/client.ts';
import { AppError } from '../../base/pure/errors.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { SessionView } from '../../sessions/rules/view.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';
import { killedIn, requireRemembered } from '../await-action.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { type CliCall, usage } from '../call.ts';
import { daemonIdentity, untilGone } from '../daemon-end.ts';
import { type Definition, durationOption } from '../define.ts';
import { progressFor } from '../progress.ts';
import { openOfflineRecords } from '../records.ts';

interface Options {
  readonly timeout: number;
  readonly rm?: true;
}

const REMIND_MS = 5_000;
const EXIT_NOT_RUNNING = 3;

export const down: Definition<Options> = {
  usage: 'down',
  onlyHere:
    'Log in there (ssh) and run it in the folder of the project: it ends the daemon, and nobody could start it from here. "keepwell -H HOST stop --all" stops every component.',
  group: 'Every day:',
  summary: 'stop everything, then the daemon',
  description:
    'Components are stopped in reverse order, each with its grace period, and stay stopped until "keepwell up". Agents are ended as well and are not respawned. ' +
    'Stopped containers are kept with their contents. --rm removes those that Keepwell made for this project, and its networks; volumes and whatever Docker Compose made stay.',
  options: [
    durationOption('--timeout <TIME>', 'how long to wait (then exit 5; stopping continues)', '5m'),
    new Option('--rm', "remove this project's stopped containers and networks; volumes stay"),
  ],
  examples: [
    ['keepwell down', 'stop everything and wait until it has ended'],
    ['keepwell down --rm', 'and remove the stopped containers'],
  ],
  answersWords: true,
  handler: async (call, names, { timeout, rm: remove = false }) => {
    if (names.length > 0)
      throw usage(`"keepwell down" stops everything. For these: "keepwell stop ${names.join(' ')}".`);
    await awaitDaemon(call);
    const daemon = daemonIdentity(call);
    const asked = await ifRunning(askDown(call));
    if (asked === null) return await withoutDaemon(call, remove);
    const watch = new StopWatch(call, asked.before);
    const wait = { timeoutMs: timeout, look: () => watch.look(), pending: () => watch.pending() };
    await untilGone(call, daemon, wait).finally(() => watch.end());
    const { killed, left, sessions, unknown } = await afterwards(call, asked.seq);
    for (const line of killed) call.note(line);
    const isAllGone = left.length === 0 && sessions.length === 0 && unknown === null;
    const containers = await containersAfter(call, isAllGone, remove);
    call.printJson({
      ...{ schema_version: 1, action: 'down', components: asked.components, killed, still_running: left },
      ...{ sessions_left: sessions.map(({ session_id }) => session_id) },
      ...containers.json,
    });
    if (sessions.length > 0)
      call.note(
        `the daemon has ended, but not the containers of ${sessionNames(sessions)}. The next daemon removes them: run "keepwell up" when the Docker Engine answers again`,
      );
    if (left.length > 0) call.note(`the daemon has ended, but these are still running: ${left.join(', ')}`);
    if (unknown !== null) call.note(`the daemon has ended, but it is not known whether these have: ${unknown}`);
    if (!isAllGone) return 1;
    requireRemembered(asked);
    call.print(`everything is stopped${asked.components.length === 0 ? '' : `: ${asked.components.join(', ')}`}`);
    return containers.say(call);
  },
};

async function askDown({ client }: CliCall) {
  const { components: before } = await client.status();
  const { last_seq: seq } = await client.listEvents({ limit: 1 });
  try {
    const { components, not_remembered } = await client.down();
    return { before, seq, components, not_remembered };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'DAEMON_CLOSING') throw error;
    return { before, seq, components: before.map(({ name }) => name), not_remembered: null }; // on its way out already: only wait for it
  }
}

/** Tells who is still stopping, and since when. */
class StopWatch {
  readonly #call: CliCall;
  readonly #progress: ReturnType<typeof progressFor>;
  readonly #began = performance.now();
  #busy: readonly ComponentView[] = [];
  #sessions = 0;
  #remindAt = this.#began + REMIND_MS;

  constructor(call: CliCall, before: readonly ComponentView[]) {
    this.#call = call;
    this.#progress = progressFor(call, before);
  }

  async look(): Promise<void> {
    const status = await this.#call.client.status().catch(() => null); // closing: soon there is nobody to ask
    if (status === null) return;
    this.#progress.update(status.components);
    this.#busy = status.components.filter(({ state }) => state !== 'stopped' && state !== 'completed');
    this.#sessions = status.daemon.sessions?.total ?? 0;
    if (performance.now() < this.#remindAt) return;
    this.#remindAt = performance.now() + REMIND_MS;
    if (!this.#call.world.err.isTty) this.#call.note(`after ${this.#sinceText()} still stopping: ${this.pending()}`);
  }

  pending(): string {
    const busy = this.#busy.map(({ name, note }) => (note === null ? name : `${name} (${note})`));
    if (this.#sessions > 0) busy.push(this.#sessions === 1 ? '1 session' : `${this.#sessions} sessions`);
    return busy.join(', ') || 'the daemon itself';
  }

  #sinceText(): string {
    return formatDuration(performance.now() - this.#began);
  }

  end(): void {
    this.#progress.end();
  }
}

interface Afterwards {
  readonly killed: readonly string[];
  readonly left: readonly string[];
  /** Those whose containers may be there still. */
  readonly sessions: readonly SessionView[];
  /** What could not be looked at, and why; null: everything was. */
  readonly unknown: string | null;
}

/** Read from the records, since the daemon's last words were written there, and from what is there now. */
async function afterwards(call: CliCall, seq: number): Promise<Afterwards> {
  try {
    const records = await openOfflineRecords(call.project, call.world.env);
    try {
      const { components } = await records.status();
      const killed = await records.listEvents({ after: seq, limit: 1000 }).then(
        ({ events }) => killedIn(events),
        () => [], // without its history there is simply less to say
      );
      const { sessions } = await records.sessions({});
      return { killed, left: alive(components), sessions, unknown: notKnown(components) };
    } finally {
      records.close();
    }
  } catch (error) {
    return { killed: [], left: [], sessions: [], unknown: (error as Error).message };
  }
}

const MAX_NAMED = 20;

function sessionNames(sessions: readonly SessionView[]): string {
  const names = sessions.slice(0, MAX_NAMED).map((one) => `${one.session_id} (${one.challenge_id} of ${one.user_id})`);
  const more = sessions.length > names.length ? ` and ${sessions.length - names.length} more` : '';
  return `${sessions.length === 1 ? 'session' : `${sessions.length} sessions:`} ${names.join(', ')}${more}`;
}

const notKnown = (components: readonly ComponentView[]): string | null =>
  components
    .filter(({ condition }) => condition === 'not-known')
    .map(({ name, note }) => `${name} (${note})`)
    .join(', ') || null;

const alive = (components: readonly ComponentView[]): string[] =>
  components
    .filter(({ state, condition }) => state === 'running' && condition !== 'not-known')
    .map(({ name, pid }) => (pid === null ? name : `${name} (pid ${pid})`));

/** When nothing runs any more: the stopped containers, which are kept, or go. */
async function containersAfter({ project, world }: CliCall, isAllGone: boolean, remove: boolean) {
  const { leftContainers, NOTHING_LEFT } = await import('../../drivers/container/left.ts');
  const left = isAllGone ? await leftContainers(project, world.env, { remove }) : NOTHING_LEFT;
  const { kept, removed, removedNetworks, problems } = left;
  return {
    json: { kept_containers: kept, removed_containers: removed, removed_networks: removedNetworks },
    say: (call: CliCall): number => {
      if (removed.length > 0) call.print(`removed ${count(removed, 'stopped container')}: ${removed.join(', ')}`);
      if (removedNetworks.length > 0)
        call.print(`removed ${count(removedNetworks, 'network')}: ${removedNetworks.join(', ')}`);
      if (remove && removed.length + removedNetworks.length === 0 && problems.length === 0)
        call.print('there is no container and no network of this project to remove');
      if (kept.length > 0)
        call.note(`${count(kept, 'stopped container')} kept: ${kept.join(', ')}. "keepwell down --rm" removes them`);
      for (const problem of problems) call.note(problem);
      return remove && problems.length > 0 ? 1 : 0;
    },
  };
}

const count = (names: readonly string[], what: string): string =>
  `${names.length} ${what}${names.length === 1 ? '' : 's'}`;

async function withoutDaemon(call: CliCall, remove: boolean): Promise<number> {
  const records = await openOfflineRecords(call.project, call.world.env);
  const [{ components }, { sessions }] = await Promise.all([records.status(), records.sessions({})]).finally(() =>
    records.close(),
  );
  const left = alive(components);
  const unknown = notKnown(components);
  const isAllGone = left.length === 0 && sessions.length === 0 && unknown === null;
  const containers = await containersAfter(call, isAllGone, remove);
  call.printJson({
    ...{ schema_version: 1, action: 'down', components: [], killed: [], still_running: left },
    ...{ sessions_left: sessions.map(({ session_id }) => session_id) },
    ...containers.json,
  });
  if (isAllGone) {
    call.print('nothing is running');
    return containers.say(call);
  }
  if (unknown !== null) call.note(`it is not known whether these are running: ${unknown}`);
  if (left.length > 0) call.note(`the daemon is not running, so nobody can stop these in order: ${left.join(', ')}`);
  if (sessions.length > 0) call.note(`the daemon is not running, so nobody ends ${sessionNames(sessions)}`);
  call.note('run "keepwell up" (it takes them over), then "keepwell down"');
  return EXIT_NOT_RUNNING;
}
