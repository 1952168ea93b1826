/** The same report without a daemon, made in this process. Loads only what the checks of the project need. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import type { Project } from '../base/home.ts';
import { silentLog } from '../base/log.ts';
import { secretValues } from '../base/pure/redact.ts';
import { createStallWatch } from '../base/stall-watch.ts';
import { NO_RUN } from '../checks/ask.ts';
import type { CheckParts } from '../checks/parts.ts';
import type { HealthQuery } from '../checks/rules/plan.ts';
import { runChecks } from '../checks/run-checks.ts';
import { asked, checksOf } from '../checks/service.ts';
import type { HealthReport } from '../checks/spec.ts';
import { loadConfig, type ResolvedConfig } from '../config/load.ts';
import { createEngine } from '../docker/engine.ts';
import { baseEnvironment, type Environment } from '../drivers/launch-run.ts';
import type { Prober } from '../supervision/ports/prober.ts';
import type { ComponentView } from '../supervision/rules/views.ts';
import { localTelemetry } from '../telemetry/switched.ts';

export interface LocalOptions {
  readonly project: Project;
  /** A configuration that was read already. */
  readonly config?: ResolvedConfig;
  readonly env: Environment;
  readonly query: HealthQuery;
  readonly signal: AbortSignal;
  /** Whose environment `env` is, for people. */
  readonly whose: string;
  /** A part of another program, whose own telemetry is used when it has any. */
  readonly hosted: boolean;
}

/** Throws a ConfigError, NO_SUCH_CHECK, or the signal's reason. Leaves nothing behind, also then. */
export async function localHealth(options: LocalOptions): Promise<HealthReport> {
  const { project, env, query, signal, whose, hosted } = options;
  const config = options.config ?? loadConfig({ files: project.files, env });
  const specs = asked(checksOf(config), query);
  const clock = systemClock;
  const telemetry = localTelemetry(config, { env, hosted, log: silentLog, instance: project.home });
  await using prober = lazyProber(env, config.secrets);
  using stalls = createStallWatch(clock);
  const secrets = () => [...secretValues(baseEnvironment(env)), ...config.secrets];
  let components: Promise<readonly ComponentView[]> | null = null;
  const parts: CheckParts = {
    clock,
    stalls,
    whose,
    env,
    prober: () => prober.open(),
    engine: () => Promise.resolve(createEngine({ env, clock, secrets, answerWithinMs: null })),
    target: NO_RUN,
    components: () => {
      components ??= componentsOf(project, env);
      return components;
    },
    observer: telemetry.checks,
  };
  try {
    return await runChecks(specs, parts, { signal });
  } finally {
    await telemetry.close();
  }
}

/** As `status` does it: from the records and from /proc. */
async function componentsOf(project: Project, env: Environment): Promise<readonly ComponentView[]> {
  const { openOffline } = await import('./offline.ts');
  const offline = await openOffline(project, env);
  try {
    return offline.status().components;
  } finally {
    offline.close();
  }
}

interface LazyProber extends AsyncDisposable {
  open(): Promise<Pick<Prober, 'open'>>;
}

/** Commands get a directory of their own for their pipes: the one of the project may not be there, or in use. */
function lazyProber(env: Environment, secrets: readonly string[]): LazyProber {
  let opened: Promise<{ readonly prober: Prober; close(): Promise<void> }> | null = null;
  const begin = async () => {
    const { openAskingProber } = await import('../checks/ask.ts');
    const home = mkdtempSync(join(tmpdir(), 'keepwell-health-'));
    const { prober, close } = openAskingProber({ home, base: baseEnvironment(env), secrets, log: silentLog });
    return {
      prober,
      close: async () => {
        await close();
        rmSync(home, { recursive: true, force: true });
      },
    };
  };
  return {
    open: async () => {
      opened ??= begin();
      return (await opened).prober;
    },
    [Symbol.asyncDispose]: async () => {
      if (opened !== null) await (await opened.catch(() => null))?.close();
    },
  };
}
