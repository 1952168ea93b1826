/** A simulated crash of an agent: of one that runs, or of one for a task that does not exist. */
import { randomBytes } from 'node:crypto';
import type { AgentType } from '../agents/spec.ts';
import { AppError } from '../base/pure/errors.ts';
import type { RunId } from '../base/pure/ids.ts';
import type { Simulated, SimulationRequest, SimulationView } from '../supervision/rules/simulation.ts';
import { type StandInKind, standIn } from './rules/stand-in.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { Rehearsals } from './rehearsals.ts';
import { isStandIn, refused, type Scene, SEGFAULT, simulationView, type Told } from './scene.ts';

const TASK_BYTES = 3;

type Hit = Pick<Told, 'dryRun' | 'kind' | 'subject'>;

export async function crashAgent(
  name: string,
  request: SimulationRequest,
  scene: Scene,
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
  if (kind === 'hang') {
    const why = 'agents have no heartbeat, so it would hang for ever';
    throw refused(name, why, 'Use another kind.');
  }
  return hit(name, task, asked, told, scene, known);
}

/** Not a task that somebody cares about: a respawn of the real command would begin to work on it. */
async function rehearse(
  { name, process }: AgentType,
  kind: StandInKind,
  asked: Simulated,
  told: Hit,
  scene: Scene,
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

function hit(
  name: string,
  task: string | undefined,
  asked: Simulated,
  told: Hit,
  scene: Scene,
  known: Rehearsals,
): SimulationView {
  const running = scene.runningAgents().filter(({ agent_type, task_id }) => {
    return agent_type === name && (task === undefined || task_id === task);
  });
  const found = running.at(-1);
  if (!found || found.run_id === null) {
    const hint = `Start one with "keepwell spawn ${name} --task ID", or use --kind import-error.`;
    throw refused(name, 'no such agent of ours is running', hint);
  }
  const run = found.run_id as RunId;
  if (!told.dryRun) {
    known.addRun(run, asked);
    if (!scene.signalMain(run, SEGFAULT)) {
      known.removeRun(run);
      throw refused(name, 'it has just ended', 'Try again.');
    }
  }
  const steps = [
    `${SEGFAULT} to process ${found.pid}, which works on ${found.task_id}`,
    'what should follow: a crash, and a respawn for the same task',
  ];
  return simulationView({ ...told, task: found.task_id, run, pid: found.pid, steps });
}
