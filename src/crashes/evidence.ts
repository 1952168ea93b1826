/** The evidence of a death, whether a daemon records it or finds it later, and of a freeze: the last output, what changed since the last good run, what the processes do. */

import { systemClock } from '../base/clock.ts';
import { exitView, isClean } from '../base/pure/exit.ts';
import { formatBytes } from '../base/pure/format.ts';
import type { WallMs } from '../base/pure/ids.ts';
import { redact, secretValues } from '../base/pure/redact.ts';
import { ingredients } from '../config/fingerprint.ts';
import { readEnvFileTexts } from '../config/load.ts';
import { environmentOf } from '../drivers/launch-run.ts';
import { portHolder } from '../drivers/process/port-holder.ts';
import type { History } from '../history/ports.ts';
import { readTail } from '../logs/log-tail.ts';
import type { Logs } from '../logs/ports.ts';
import type { RunnerWorld } from '../supervision/component-runner.ts';
import type { Driver } from '../supervision/ports/driver.ts';
import type { ComponentRecord, Evidence, Unexplained } from '../supervision/ports/store.ts';
import { stretchView } from '../supervision/rules/health/stretch.ts';
import { runOf } from '../supervision/rules/status.ts';
import type { SeenRun } from '../supervision/rules/unsupervised.ts';
import type { WhyView } from '../supervision/rules/views.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import type { Death } from '../supervision/step-commit.ts';
import type { KnownPeer } from './rules/crash.ts';
import { dossierOf, OUT_OF_MEMORY } from './rules/explain.ts';

interface EvidenceOptions extends Death {
  readonly spec: ComponentSpec;
  readonly logsDir: string;
  /** The daemon's own environment, which components inherit. */
  readonly base: Readonly<Record<string, string>>;
  /** Values of the configuration that must never be shown. */
  readonly secrets: readonly string[];
  readonly history: History;
  /** All components, to name the one that refused a connection. */
  readonly specs: readonly ComponentSpec[];
  /** Whose crash it is; absent: that of the component. */
  readonly whose?: string;
}

export function collectEvidence(options: EvidenceOptions): Evidence {
  const { spec, specs, exit, at, output, logsDir, base, history, whose = `component ${spec.name}` } = options;
  const secrets = secretsOf(spec, base, options.secrets);
  const now = ingredients(spec, readEnvFileTexts(spec.driver.envFiles));
  const tail = readTail(logsDir, spec.name, secrets, { endedAt: at, ...(output ? { output } : {}) });
  const dependencies = specs.filter(({ name }) => name in spec.dependsOn).map(peerOf);
  const dossier = dossierOf(tail, exit, { whose, cwd: spec.driver.cwd, dependencies, portHolder });
  return {
    changedSinceGood: changes(history.lastGoodIngredients(spec.name), now),
    ...dossier,
    rootCause: dossier.rootCause === OUT_OF_MEMORY ? outOfMemory(spec) : dossier.rootCause,
  };
}

/** The ports by which a component is known are those at which it is asked. */
function peerOf({ name, probes }: ComponentSpec): KnownPeer {
  const ports = Object.values(probes).flatMap((probe) =>
    probe && 'port' in probe.question ? [probe.question.port] : [],
  );
  return { name, ports };
}

/** What the kernel counted, and what the configuration allowed. */
function outOfMemory({ limits: { memoryBytes } }: ComponentSpec): string {
  if (memoryBytes === null) return `${OUT_OF_MEMORY}; it has no limit of its own`;
  return `${OUT_OF_MEMORY}; all its processes together may use ${formatBytes(memoryBytes)} (limits.memory)`;
}

/** Values of this component's environment, and those of the whole configuration, that must never be shown. */
export function secretsOf(
  spec: ComponentSpec,
  base: Readonly<Record<string, string>>,
  ofConfig: readonly string[],
): readonly string[] {
  const environment = environmentOf(spec, base);
  const own = secretValues('heals' in environment ? { ...base, ...spec.driver.env } : environment.env);
  return [...new Set([...own, ...ofConfig])];
}

type Ingredients = Readonly<Record<string, string>>;

/** Null when there is no good run to compare with. */
function changes(good: Ingredients | null, now: Ingredients): readonly string[] | null {
  if (!good) return null;
  const names = new Set([...Object.keys(good), ...Object.keys(now)]);
  return [...names].filter((name) => good[name] !== now[name]).sort();
}

// The death of a run while no daemon was there to record it, told from its run directory and its log.

interface DeathOptions extends Omit<EvidenceOptions, 'exit' | 'at'> {
  readonly record: ComponentRecord;
  readonly runs: readonly SeenRun[];
}

/** Crashes in the history begin with 1. */
const NOT_RECORDED = 0;

/** Null: it lives, was stopped, completed, or its end is recorded with all that is known of it. */
export function unrecordedDeath({ record, runs, ...options }: DeathOptions): WhyView | null {
  const { history, spec } = options;
  const { component, startedAt, unexplained } = record;
  const seen = unseenEnd(record, runs, history, spec.restart.successCodes);
  if (seen !== null) {
    const at = seen.exitAt ?? (systemClock.wallNow() as WallMs);
    const exit = exitView(seen.exit ?? { kind: 'unknown', why: 'nobody saw it' });
    const uptimeMs = Math.max(0, at - (startedAt ?? at));
    const { counters } = component;
    return whyOf({ ...UNDECIDED, run: seen.run, at, exit, uptimeMs, counters }, options);
  }
  if (!unexplained || history.why({ component: spec.name })?.run_id === unexplained.run) return null;
  const output = { run: unexplained.run, end: unexplained.logEnd };
  return whyOf({ ...unexplained, output }, options);
}

/** The run that the record names, when it is over and nobody has recorded that. */
function unseenEnd(
  record: ComponentRecord,
  runs: readonly SeenRun[],
  history: History,
  successCodes: readonly number[] | undefined,
): SeenRun | null {
  const { state } = record.component;
  const run = runOf(state);
  const seen = run === null ? undefined : runs.find((one) => one.run === run);
  if (run === null || seen === undefined || state.kind === 'stopping' || record.desired === 'stopped') return null;
  if (seen.alive || seen.leftovers.length > 0 || seen.unreachable) return null;
  if ((seen.exit && isClean(seen.exit, successCodes)) || history.why({ component: record.name })?.run_id === run)
    return null;
  return seen;
}

const UNDECIDED = { decision: 'none yet: no daemon has seen it', rule: 'none' };

interface ToldDeath extends Death, Pick<Unexplained, 'run' | 'uptimeMs' | 'counters' | 'decision'> {
  readonly rule: string;
}

function whyOf(death: ToldDeath, options: Omit<DeathOptions, 'record' | 'runs'>): WhyView {
  const { spec, history } = options;
  const { run, at, exit, counters, decision } = death;
  const { logTail, changedSinceGood, ...told } = collectEvidence({ ...death, ...options });
  return {
    ...{ schema_version: 1, id: NOT_RECORDED, subject: { kind: 'component', name: spec.name }, run_id: run },
    ...{ at: new Date(at).toISOString(), uptime_ms: death.uptimeMs, exit },
    ...{ error_type: told.errorType, error_message: told.errorMessage, root_cause: told.rootCause },
    ...{
      fingerprint: told.fingerprint ?? null,
      agent_type: null,
      agent_pid: null,
      task_id: null,
      incident: null,
      ticket: null,
    },
    decision,
    ...{ log_tail: logTail, stack: told.stack ?? [], related_files: told.relatedFiles ?? [] },
    earlier_error: told.earlier ?? null,
    probes: history
      .probes({ component: spec.name, limit: MAX_STRETCHES })
      .filter((one) => one.run === run)
      .reverse()
      .map(stretchView),
    ...{ freeze: null, dependencies: [], changed_since_good: changedSinceGood },
    rule: {
      name: death.rule,
      counters: {
        restarts_in_window: counters.restarts.length,
        ...{ failures: counters.failures, spawn_errors: counters.spawnErrors, total: counters.total },
      },
    },
  };
}

const MAX_STRETCHES = 20;

// The evidence of a freeze: what the driver sees of its processes, and what the component says when it is asked where it is.

interface ExaminerParts {
  readonly driver: Pick<Driver, 'examine'>;
  readonly logs: Logs;
  /** The position behind the last byte of the component's log. */
  logEnd(spec: ComponentSpec): number;
  /** Values that must never be shown. */
  secretsOf(spec: ComponentSpec): readonly string[];
}

/** A thread dump is long, and its beginning says most. */
const MAX_LINES = 100;
const MAX_LINE_CHARS = 300;
/** Of each line before secrets are looked for: half of one, left at a cut, would not be recognised. */
const MAX_RAW_CHARS = 4_000;

export const createExaminer =
  ({ driver, logs, logEnd, secretsOf }: ExaminerParts): RunnerWorld['examine'] =>
  async (spec, run, dump) => {
    const from = dump === null ? 0 : logEnd(spec);
    const { evidence, ...found } = await driver.examine(run, dump);
    const secrets = secretsOf(spec);
    const seen = evidence.map((line) => redact(line, secrets).replace(/\s*\n\s*/g, ' '));
    const said = dump === null ? [] : await saidSince(spec.name, from, logs).catch(() => []);
    // As one text: a secret that goes over several lines is seen as one.
    const wrote = said.length === 0 ? [] : redact(said.join('\n'), secrets).split('\n');
    const title = wrote.length === 0 ? `it wrote nothing after ${dump}` : `what it wrote after ${dump}:`;
    const all = dump === null ? seen : [...seen, title, ...wrote.map((line) => `  ${line}`)];
    return { ...found, evidence: all.map((line) => line.slice(0, MAX_LINE_CHARS)) };
  };

/** The lines that begin at `from` or later; one bite of them has to do. */
async function saidSince(component: string, from: number, logs: Logs): Promise<readonly string[]> {
  const after = from === 0 ? {} : { [component]: from - 1 }; // the break before it
  await using cursor = logs.open({ components: [component], tail: Number.MAX_SAFE_INTEGER, after });
  const { lines } = await cursor.read();
  const since = lines.filter(({ offset }) => offset >= from).slice(0, MAX_LINES);
  return since.map(({ line }) => line.slice(0, MAX_RAW_CHARS));
}
