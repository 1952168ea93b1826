/**
 * Makes crashes happen that somebody asked for. A real run is hit by a real signal; or the next run of a component, or an agent for
 * a task that does not exist, is a stand-in that dies as it was asked to. What is decided afterwards is decided as always.
 */
import { randomBytes } from 'node:crypto';
import type { AgentView } from '../agents/rules/views.ts';
import type { AgentsSpec, AgentType } from '../agents/spec.ts';
import { AppError } from '../base/pure/errors.ts';
import type { SignalName } from '../base/pure/exit.ts';
import { formatDuration } from '../base/pure/format.ts';
import type { RunId, WallMs } from '../base/pure/ids.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { Incidents } from '../incidents/ports.ts';
import { silenceLimitMs } from '../supervision/rules/freeze/heartbeat.ts';
import type { CrashKind, Simulated, SimulationRequest, SimulationView } from '../supervision/rules/simulation.ts';
import type { ComponentView, Subject } from '../supervision/rules/views.ts';
import { type ComponentSpec, runsInContainer } from '../supervision/spec.ts';
import type { Rehearsals } from './rehearsals.ts';
import { noticedWhen } from './rules/notice.ts';
import { type StandInKind, standIn } from './rules/stand-in.ts';

export interface Simulations {
  /** Throws NO_SUCH_COMPONENT, NO_SUCH_AGENT_TYPE, COMPONENT_NOT_RUNNING, AGENTS_FULL, NOT_SIMULATED, REQUEST_INVALID. */
  crash(request: SimulationRequest): Promise<SimulationView>;
  /** What an earlier daemon was killed over is cleared away. */
  begin(): void;
}

export function createSimulations(
  scene: SimulationWorld,
  known: Rehearsals,
  incidentService: Pick<Incidents, 'incidents' | 'recovered'>,
): Simulations {
  return {
    crash: async (request) => {
      const { component, agent, task, kind } = request;
      if (task !== undefined && (agent === undefined || (kind !== 'signal' && kind !== 'hang')))
        throw new AppError('REQUEST_INVALID', { problem: 'task goes with agent and kind signal or hang.' });
      if (component !== undefined && agent === undefined) return crashComponent(component, request, scene, known);
      if (agent !== undefined && component === undefined) return crashAgent(agent, request, scene, known);
      throw new AppError('REQUEST_INVALID', { problem: 'exactly one of component and agent must be given.' });
    },
    begin: () => {
      for (const { subjects, tasks } of incidentService.incidents({ state: 'open', limit: Infinity })) {
        const left = tasks.filter((task) => known.ofTask(task) !== null && !scene.hasAgentFor(task));
        for (const task of left) for (const subject of subjects) incidentService.recovered(subject, task);
      }
    },
  };
}

// A simulated crash of an agent: of one that runs, or of one for a task that does not exist.

const TASK_BYTES = 3;

type AgentHit = Pick<SimulatedCrash, 'dryRun' | 'kind' | 'subject'>;

export async function crashAgent(
  name: string,
  request: SimulationRequest,
  scene: SimulationWorld,
  known: Rehearsals,
): Promise<SimulationView> {
  const { kind = 'import-error', dryRun = false, notify = false, task } = request;
  const { types } = scene.agents();
  const type = types.find((each) => each.name === name);
  if (!type) {
    const suggestion = didYouMean(
      name,
      types.map((each) => each.name),
    );
    throw new AppError('NO_SUCH_AGENT_TYPE', { name, suggestion });
  }
  const subject: Subject = { kind: 'agent', name };
  const asked: Simulated = { kind, notify, memoryBytes: type.limits.memoryBytes, at: scene.now() };
  const told = { dryRun, kind, subject };
  if (isStandIn(kind)) return rehearse(type, kind, asked, told, scene, known);
  const hit = { name, task, asked, told, scene, known };
  return kind === 'hang' ? hangAgent(hit, type) : hitAgent(hit);
}

/** Not a task that somebody cares about: a respawn of the real command would begin to work on it. */
async function rehearse(
  { name, process }: AgentType,
  kind: StandInKind,
  asked: Simulated,
  told: AgentHit,
  scene: SimulationWorld,
  known: Rehearsals,
): Promise<SimulationView> {
  const task = `simulated-${randomBytes(TASK_BYTES).toString('hex')}`;
  const { does } = standIn(kind, process.cwd, asked.memoryBytes);
  const { maxRespawns } = scene.agents();
  if (!told.dryRun) {
    known.addTask(task, asked);
    await scene.spawn(name, task);
  }
  const steps = [
    `an agent of this type is spawned for the task ${task}, which does not exist`,
    `a stand-in runs in its place each time: it ${does}`,
    `what should follow: ${maxRespawns} respawns, ${maxRespawns + 1} crashes in "keepwell crashes --agent ${name}", and a ticket by the rules for tickets`,
  ];
  return simulationView({ ...told, task, run: null, pid: null, steps });
}

interface AgentTarget {
  readonly name: string;
  readonly task: string | undefined;
  readonly asked: Simulated;
  readonly told: AgentHit;
  readonly scene: SimulationWorld;
  readonly known: Rehearsals;
}

/** The newest that runs, or the one of the task. */
function findAgent({ name, task, scene }: AgentTarget): AgentView & { readonly run: RunId } {
  const running = scene.runningAgents().filter(({ agent_type, task_id }) => {
    return agent_type === name && (task === undefined || task_id === task);
  });
  const found = running.at(-1);
  if (!found || found.run_id === null) {
    const hint = `Start one with "keepwell spawn ${name} --task ID", or use --kind import-error.`;
    throw refused(name, 'no such agent of ours is running', hint);
  }
  return { ...found, run: found.run_id as RunId };
}

async function hangAgent(target: AgentTarget, { heartbeat, timeoutMs }: AgentType): Promise<SimulationView> {
  const { name, asked, told, scene, known } = target;
  const when =
    heartbeat !== null
      ? `its heartbeat is overdue, after ${formatDuration(silenceLimitMs(heartbeat))}`
      : timeoutMs !== null
        ? `its timeout of ${formatDuration(timeoutMs)} is over`
        : null;
  if (when === null) {
    const why = 'it would stay stopped for ever, because nothing would notice';
    throw refused(name, why, `Give the type a heartbeat or a timeout first: heartbeat: { log_every: 2m }`);
  }
  const { run, pid, task_id: task } = findAgent(target);
  if (!told.dryRun) {
    known.addRun(run, asked);
    await scene.freezeAgent(run);
  }
  const steps = [
    `SIGSTOP to all processes of the agent that works on ${task}: it hangs until ${when}`,
    'what should follow: a crash, and a respawn for the same task',
    `if nothing notices: "keepwell agents stop ${task}" ends it`,
  ];
  return simulationView({ ...told, task, run, pid, steps });
}

function hitAgent(target: AgentTarget): SimulationView {
  const { name, asked, told, scene, known } = target;
  const { run, pid, task_id: task } = findAgent(target);
  if (!told.dryRun) {
    known.addRun(run, asked);
    if (!scene.signalMain(run, SEGFAULT)) {
      known.removeRun(run);
      throw refused(name, 'it has just ended', 'Try again.');
    }
  }
  const steps = [
    `${SEGFAULT} to process ${pid}, which works on ${task}`,
    'what should follow: a crash, and a respawn for the same task',
  ];
  return simulationView({ ...told, task, run, pid, steps });
}

// A simulated crash of a component.

interface Target {
  readonly name: string;
  readonly spec: ComponentSpec;
  readonly view: ComponentView;
  readonly run: RunId;
}

type Hit = Omit<SimulatedCrash, 'run' | 'pid' | 'steps'>;

export async function crashComponent(
  name: string,
  { kind = 'exit', dryRun = false, notify = false }: SimulationRequest,
  scene: SimulationWorld,
  known: Rehearsals,
): Promise<SimulationView> {
  const target = findTarget(name, scene);
  const memory = target.view.limits.find((limit) => limit.name === 'memory' && limit.mechanism !== null);
  const asked: Simulated = { kind, notify, memoryBytes: memory?.max ?? null, at: scene.now() };
  const subject: Subject = { kind: 'component', name };
  const told = { dryRun, kind, subject, task: null };
  if (isStandIn(kind)) return replace(target, kind, asked, told, scene, known);
  return kind === 'hang' ? hang(target, asked, told, scene, known) : hit(target, asked, told, scene, known);
}

function findTarget(name: string, scene: SimulationWorld): Target {
  const view = scene.view(name);
  const specs = scene.specs();
  const spec = specs.find((each) => each.name === name);
  if (!view || !spec) {
    const suggestion = didYouMean(
      name,
      specs.map((each) => each.name as string),
    );
    throw new AppError('NO_SUCH_COMPONENT', { name, suggestion });
  }
  if (spec.driver.kind === 'external') {
    const why = 'others run it, and Keepwell never touches what others run';
    throw refused(name, why, 'End it yourself, and watch what follows.');
  }
  if (spec.driver.kind === 'kubernetes') {
    const why = 'it runs on Kubernetes, and nothing is done to its processes from here';
    throw refused(name, why, 'Use "kubectl exec" to end it, and watch what follows.');
  }
  if (view.state !== 'running' || view.run_id === null) throw new AppError('COMPONENT_NOT_RUNNING', { name });
  // It would be done when the Engine is back, and nobody thinks of it any more.
  if (view.condition === 'engine-unreachable')
    throw refused(name, 'the Docker Engine does not answer', 'Try again when "keepwell status" says that it does.');
  return { name, spec, view, run: view.run_id as RunId };
}

const NOTICE_FIRST = 'Give it a heartbeat or a liveness probe first.';
const NOTICE_BETTER =
  'Give it a heartbeat, or a liveness probe of another kind: for a process that is stopped, the kernel still answers "tcp" and "pid".';

const follows = (name: string): string =>
  `what should follow: a crash in "keepwell why ${name}", whatever its restart policy says, and a ticket by the rules for tickets`;

const whenNoticed = ({ spec, view }: Target): string | null =>
  noticedWhen(view, spec.probes.liveness?.question ?? null);

function replace(
  target: Target,
  kind: StandInKind,
  asked: Simulated,
  told: Hit,
  scene: SimulationWorld,
  known: Rehearsals,
): SimulationView {
  const { name } = target;
  const { driver } = target.spec;
  if (driver.kind !== 'process') {
    const why = `the command of a container cannot be replaced, so ${kind} cannot be simulated`;
    throw refused(name, why, `Use --kind signal${whenNoticed(target) === null ? '' : ' or --kind hang'}.`);
  }
  const { does } = standIn(kind, driver.cwd, asked.memoryBytes);
  if (!told.dryRun) {
    known.want(name, asked);
    scene.restart(name);
  }
  const stopped = `${name} is stopped, as with "keepwell restart"`;
  const steps = [stopped, `a stand-in runs once in its place: it ${does}`, follows(name)];
  return simulationView({ ...told, run: null, pid: null, steps });
}

async function hang(
  target: Target,
  asked: Simulated,
  told: Hit,
  scene: SimulationWorld,
  known: Rehearsals,
): Promise<SimulationView> {
  const { name, spec, view, run } = target;
  const when = whenNoticed(target);
  if (when === null) {
    const why = 'it would stay stopped for ever, because nothing would notice';
    throw refused(name, why, spec.probes.liveness === null ? NOTICE_FIRST : NOTICE_BETTER);
  }
  if (!told.dryRun) {
    known.addRun(run, asked);
    await scene.freeze(run);
  }
  const steps = [
    `SIGSTOP to all its processes: it hangs until ${when}`,
    follows(name),
    `if nothing notices: "keepwell restart ${name}" ends it`,
  ];
  return simulationView({ ...told, run, pid: view.pid, steps });
}

function hit(
  { name, spec, view, run }: Target,
  asked: Simulated,
  told: Hit,
  scene: SimulationWorld,
  known: Rehearsals,
): SimulationView {
  const isContainer = runsInContainer(spec.driver);
  // A signal that it does not handle reaches the first process of a container only if it is SIGKILL.
  const signal = isContainer ? 'SIGKILL' : SEGFAULT;
  if (!told.dryRun) {
    known.addRun(run, asked);
    if (isContainer) scene.kill(run);
    else if (!scene.signalMain(run, signal)) {
      known.removeRun(run);
      throw refused(name, 'its main process is gone', 'Look at "keepwell status", and try again.');
    }
  }
  const whom = view.pid === null ? 'its main process' : `its main process ${view.pid}`;
  return simulationView({ ...told, run, pid: view.pid, steps: [`${signal} to ${whom}`, follows(name)] });
}

// What a simulated crash needs to know of everything that runs, and may do to it.

export interface SimulationWorld {
  view(component: string): ComponentView | null;
  specs(): readonly ComponentSpec[];
  agents(): AgentsSpec;
  /** Ours, in the order in which they were spawned. */
  runningAgents(): readonly AgentView[];
  /** Running, or about to be respawned. */
  hasAgentFor(task: string): boolean;
  spawn(type: string, task: string): Promise<unknown>;
  /** By hand. */
  restart(component: string): void;
  /** To the main process alone, if it is still the one that was begun. False: it is gone. */
  signalMain(run: RunId, signal: SignalName): boolean;
  /** To the container of the run: SIGKILL. */
  kill(run: RunId): void;
  /** SIGSTOP to all processes of the run of a component. */
  freeze(run: RunId): Promise<void>;
  /** The same, of the run of an agent. */
  freezeAgent(run: RunId): Promise<void>;
  now(): WallMs;
}

/** What a process dies of that no longer knows what it does. */
export const SEGFAULT: SignalName = 'SIGSEGV';

export const isStandIn = (kind: CrashKind): kind is StandInKind => kind !== 'signal' && kind !== 'hang';

export const refused = (name: string, problem: string, hint: string): AppError =>
  new AppError('NOT_SIMULATED', { name, problem, hint });

export interface SimulatedCrash extends Pick<SimulationView, 'kind' | 'subject' | 'steps' | 'pid'> {
  readonly dryRun: boolean;
  readonly task: string | null;
  readonly run: RunId | null;
}

export const simulationView = ({ dryRun, task, run, ...rest }: SimulatedCrash): SimulationView => ({
  ...{ schema_version: 1, dry_run: dryRun, ...rest },
  ...{ task_id: task, run_id: run },
});
