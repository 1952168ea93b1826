/** A simulated crash of a component. */
import { type ComponentSpec, runsInContainer } from '../../core/component.ts';
import { AppError } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import type { Simulated, SimulationRequest, SimulationView } from '../../core/simulate/simulation.ts';
import { type StandInKind, standIn } from '../../core/simulate/stand-in.ts';
import { didYouMean } from '../../core/suggest.ts';
import type { ComponentView, Subject } from '../../core/views.ts';
import type { Rehearsals } from './rehearsals.ts';
import { isStandIn, refused, type Scene, SEGFAULT, simulationView, type Told } from './scene.ts';

interface Target {
  readonly name: string;
  readonly spec: ComponentSpec;
  readonly view: ComponentView;
  readonly run: RunId;
}

type Hit = Omit<Told, 'run' | 'pid' | 'steps'>;

export function crashComponent(
  name: string,
  { kind = 'exit', dryRun = false, notify = false }: SimulationRequest,
  scene: Scene,
  known: Rehearsals,
): SimulationView {
  const target = findTarget(name, scene);
  const memory = target.view.limits.find((limit) => limit.name === 'memory' && limit.mechanism !== null);
  const asked: Simulated = { kind, notify, memoryBytes: memory?.max ?? null };
  const subject: Subject = { kind: 'component', name };
  const told = { dryRun, kind, subject, task: null };
  if (isStandIn(kind)) return replace(target, kind, asked, told, scene, known);
  return kind === 'hang' ? hang(target, asked, told, scene, known) : hit(target, asked, told, scene, known);
}

function findTarget(name: string, scene: Scene): Target {
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
  if (view.state !== 'running' || view.run_id === null) throw new AppError('COMPONENT_NOT_RUNNING', { name });
  return { name, spec, view, run: view.run_id as RunId };
}

const follows = (name: string): string =>
  `what should follow: a crash in "keepwell why ${name}", and whatever its restart policy says`;

function replace(
  { name, spec: { driver } }: Target,
  kind: StandInKind,
  asked: Simulated,
  told: Hit,
  scene: Scene,
  known: Rehearsals,
): SimulationView {
  if (driver.kind !== 'process') {
    const why = `the command of a container cannot be replaced, so ${kind} cannot be simulated`;
    throw refused(name, why, 'Use --kind signal or --kind hang.');
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

function hang(
  { name, view, run }: Target,
  asked: Simulated,
  told: Hit,
  scene: Scene,
  known: Rehearsals,
): SimulationView {
  if (view.heartbeat === null && !view.probes.some(({ role }) => role === 'liveness')) {
    const why = 'it would stay stopped for ever, because nothing would notice';
    throw refused(name, why, 'Give it a heartbeat or a liveness probe first.');
  }
  if (!told.dryRun) {
    known.addRun(run, asked);
    scene.signal(run, 'SIGSTOP');
  }
  const until = view.heartbeat === null ? 'its liveness probe fails' : 'its heartbeat is overdue';
  const steps = [`SIGSTOP to all its processes: it hangs until ${until}`, follows(name)];
  return simulationView({ ...told, run, pid: view.pid, steps });
}

function hit(
  { name, spec, view, run }: Target,
  asked: Simulated,
  told: Hit,
  scene: Scene,
  known: Rehearsals,
): SimulationView {
  const isContainer = runsInContainer(spec.driver);
  // A signal that it does not handle reaches the first process of a container only if it is SIGKILL.
  const signal = isContainer ? 'SIGKILL' : SEGFAULT;
  if (!told.dryRun) {
    known.addRun(run, asked);
    if (isContainer) scene.signal(run, signal);
    else if (!scene.signalMain(run, signal)) throw new AppError('COMPONENT_NOT_RUNNING', { name });
  }
  const whom = view.pid === null ? 'its main process' : `its main process ${view.pid}`;
  return simulationView({ ...told, run, pid: view.pid, steps: [`${signal} to ${whom}`, follows(name)] });
}
