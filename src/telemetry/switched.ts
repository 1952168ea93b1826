/** Telemetry as the configuration wants it right now. What it needs is loaded when it is switched on, and never otherwise. */

import { createRequire } from 'node:module';
import { programFile } from '../base/program-file.ts';
import type { ResolvedConfig } from '../config/load.ts';
import type { Environment } from '../drivers/launch-run.ts';
import type { Prober } from '../supervision/ports/prober.ts';
import { ROLES } from '../supervision/rules/health/probe.ts';
import type * as opening from './open.ts';
import { noTelemetry, type Telemetry, type TelemetryNames } from './ports.ts';
import { hostProviders, isOn, NO_HOST, type TelemetrySettings, telemetrySettings } from './settings.ts';

type Parts = Pick<opening.TelemetryParts, 'log' | 'instance' | 'history'>;
/** What is looked up when values are asked for. */
type Readings = Pick<opening.TelemetryParts, 'components' | 'daemon'>;
type Configured = Pick<ResolvedConfig, 'name' | 'telemetry' | 'components' | 'checks'>;

interface TelemetryOptions extends Parts {
  readonly env: Environment;
  /** A part of another program, whose own telemetry is used when it has any. */
  readonly hosted: boolean;
}

interface SwitchedTelemetry extends Telemetry {
  /** From now on, and by this configuration. Never throws. */
  begin(readings: Readings, config: Configured): void;
  /** This is the configuration from now on; does nothing before `begin`. Never throws. */
  apply(config: Configured): void;
}

export function switchedTelemetry(options: TelemetryOptions): SwitchedTelemetry {
  let now = noTelemetry;
  let inForce = '';
  let readings: Readings | null = null;
  const apply = (config: Configured): void => {
    if (readings === null) return;
    const wanted = { ...wantedBy(config, options), project: config.name };
    const key = JSON.stringify(wanted);
    if (key === inForce) {
      now.named(namesIn(config));
      return;
    }
    const { settings, host } = wanted;
    now.close().catch(() => {}); // first, so that nothing is told by both; it says by itself what it could not deliver
    for (const note of settings.notes) options.log.warn(note);
    now =
      isOn(settings) || host.traces || host.metrics
        ? opened(settings, host, config, { ...options, ...readings })
        : noTelemetry;
    inForce = key;
  };
  return {
    begin: (from, config) => {
      readings = from;
      apply(config);
    },
    apply,
    told: (event) => now.told(event),
    probed: (...answer) => now.probed(...answer),
    checks: { reportStarted: (beganAt) => now.checks.reportStarted(beganAt) },
    named: (names) => now.named(names),
    metrics: () => now.metrics(),
    close: () => now.close(),
  };
}

/**
 * What a report of the checks is told to where there is no daemon: `keepwell health --local`, and the library. `close` sends it, and
 * takes half a second at most.
 */
export function localTelemetry(
  config: Configured,
  { env, hosted, log, instance }: Pick<TelemetryOptions, 'env' | 'hosted' | 'log' | 'instance'>,
): Telemetry {
  const switched = switchedTelemetry({
    ...{ env, hosted, log },
    // Not the daemon's: a receiver takes counts that come from two places under one name for one count that jumps.
    instance: `${instance}#health`,
    history: null,
  });
  const nothing: Readings = { components: () => [], daemon: () => null };
  switched.begin(nothing, { ...config, telemetry: { ...config.telemetry, prometheus: false } });
  return switched;
}

/** The configuration comes first, then the program around us, then the variables: those are meant for that program too. */
function wantedBy({ telemetry }: Configured, { env, hosted }: TelemetryOptions) {
  const host = hosted && telemetry.otlp === null ? hostProviders() : NO_HOST;
  const asked = telemetrySettings(telemetry, env);
  const traces = host.traces ? null : asked.traces;
  const metrics = host.metrics ? null : asked.metrics;
  return { host, settings: { ...asked, traces, metrics } };
}

function opened(
  settings: TelemetrySettings,
  host: opening.TelemetryParts['host'],
  config: Configured,
  { log, instance, components, daemon, history }: TelemetryOptions & Readings,
): Telemetry {
  try {
    const { openTelemetry } = createRequire(import.meta.url)(programFile('telemetry.cjs')) as typeof opening;
    const about = { settings, host, project: config.name, names: namesIn(config) };
    return openTelemetry({ ...about, log, instance, components, daemon, history });
  } catch (error) {
    log.warn('telemetry cannot be switched on; nothing else is affected', { problem: (error as Error).message });
    return noTelemetry;
  }
}

/** Without checks of its own, a project has one for each component. */
function namesIn({ components, checks }: Configured): TelemetryNames {
  const names = components.map(({ name }) => name);
  return { components: names, checks: checks.length > 0 ? checks.map(({ name }) => name) : names };
}

// Tells how long the probes of components take to answer.

export function measuringProber(prober: Prober, probed: Telemetry['probed']): Prober {
  return {
    describe: (...about) => prober.describe(...about),
    open: (question, target, onNews) => {
      const inquiry = prober.open(question, target, onNews);
      const role = ROLES.find((each) => target.spec.probes[each]?.question === question);
      if (role === undefined) return inquiry; // a check
      return {
        ask: async (timeoutMs, signal) => {
          const askedAt = performance.now();
          const answer = await inquiry.ask(timeoutMs, signal);
          if (!signal.aborted) probed(target.spec.name, role, performance.now() - askedAt);
          return answer;
        },
        [Symbol.dispose]: () => inquiry[Symbol.dispose](),
      };
    },
    watch: (...about) => prober.watch(...about),
  };
}
