/** What a crash record gets besides the exit itself: the last output and what changed since the last good run. */

import type { ExitView } from '../base/pure/exit.ts';
import { formatBytes } from '../base/pure/format.ts';
import type { WallMs } from '../base/pure/ids.ts';
import { secretValues } from '../base/pure/redact.ts';
import { ingredients } from '../config/fingerprint.ts';
import { readEnvFileTexts } from '../config/load.ts';
import { environmentOf } from '../drivers/launch-run.ts';
import { portHolder } from '../drivers/process/port-holder.ts';
import type { History } from '../history/ports.ts';
import { readTail } from '../logs/log-tail.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import type { SupervisorParts } from '../supervision/supervisor.ts';
import type { KnownPeer } from './rules/crash.ts';
import { dossierOf, OUT_OF_MEMORY } from './rules/explain.ts';

export interface EvidenceOptions {
  readonly spec: ComponentSpec;
  readonly exit: ExitView;
  /** When it ended. */
  readonly at: WallMs;
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

export function collectEvidence(options: EvidenceOptions): ReturnType<SupervisorParts['evidence']> {
  const { spec, specs, exit, at, logsDir, base, history, whose = `component ${spec.name}` } = options;
  const secrets = secretsOf(spec, base, options.secrets);
  const now = ingredients(spec, readEnvFileTexts(spec.driver.envFiles));
  const tail = readTail(logsDir, spec.name, secrets, { endedAt: at });
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
