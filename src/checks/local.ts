/** A report made in this process, when no daemon is asked. Loads only what the checks of the project need. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import { secretValues } from '../base/pure/redact.ts';
import { createStallWatch } from '../base/stall-watch.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { createEngine } from '../docker/engine.ts';
import { baseEnvironment, type Environment } from '../drivers/launch-run.ts';
import type { Prober } from '../supervision/ports/prober.ts';
import type { ComponentView } from '../supervision/rules/views.ts';
import { NO_RUN } from './ask.ts';
import type { CheckParts } from './kind.ts';
import type { HealthQuery } from './rules/plan.ts';
import { runChecks } from './run-checks.ts';
import { asked, checksOf } from './service.ts';
import type { HealthReport } from './spec.ts';

export interface LocalReportOptions extends Pick<CheckParts, 'whose' | 'observer'> {
  readonly config: ResolvedConfig;
  readonly env: Environment;
  readonly query: HealthQuery;
  readonly signal: AbortSignal;
  /** How the components are; asked once at most. */
  components(): Promise<readonly ComponentView[]>;
}

/** Throws NO_SUCH_CHECK, or the signal's reason. Leaves nothing behind, also then. */
export async function reportLocally(options: LocalReportOptions): Promise<HealthReport> {
  const { config, env, query, signal, whose, observer } = options;
  const specs = asked(checksOf(config), query);
  const clock = systemClock;
  await using prober = lazyProber(env, config.secrets);
  using stalls = createStallWatch(clock);
  const secrets = () => [...secretValues(baseEnvironment(env)), ...config.secrets];
  let components: Promise<readonly ComponentView[]> | null = null;
  const parts: CheckParts = {
    ...{ clock, stalls, whose, env, observer, target: NO_RUN },
    prober: () => prober.open(),
    engine: () => Promise.resolve(createEngine({ env, clock, secrets, answerWithinMs: null })),
    components: () => {
      components ??= options.components();
      return components;
    },
  };
  return await runChecks(specs, parts, { signal });
}

interface LazyProber extends AsyncDisposable {
  open(): Promise<Pick<Prober, 'open'>>;
}

/** Commands get a directory of their own for their pipes: the one of the project may not be there, or in use. */
function lazyProber(env: Environment, secrets: readonly string[]): LazyProber {
  let opened: Promise<{ readonly prober: Prober; close(): Promise<void> }> | null = null;
  const begin = async () => {
    const { openAskingProber } = await import('./ask.ts');
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
