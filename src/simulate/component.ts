/** A simulated crash of a component. */
import { type ComponentSpec, runsInContainer } from '../supervision/spec.ts';
import { AppError } from '../base/pure/errors.ts';
import type { RunId } from '../base/pure/ids.ts';
import { noticedWhen } from './rules/notice.ts';
import type { Simulated, SimulationRequest, SimulationView } from '../supervision/rules/simulation.ts';
import { type StandInKind, standIn } from './rules/stand-in.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { ComponentView, Subject } from '../supervision/rules/views.ts';
import type { Rehearsals } from './rehearsals.ts';
import { isStandIn, refused, type Scene, SEGFAULT, simulationView, type Told } from './scene.ts';

interface Target {
  readonly name: string;
  readonly spec: ComponentSpec;
  readonly view: ComponentView;
  readonly run: RunId;
}

type Hit = Omit<Told, 'run' | 'pid' | 'steps'>;

export async function crashComponent(
  name: string,
  { kind = 'exit', dryRun = false, notify = false }: SimulationRequest,
  scene: Scene,
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
  scene: Scene,
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
  scene: Scene,
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
  scene: Scene,
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
