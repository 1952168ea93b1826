/** Whether the project is a service, how that is, and whether its unit still fits. */
import type { ResolvedConfig } from '../../config/load.ts';
import { daemonIsThere } from '../await-daemon.ts';
import type { Session } from '../call.ts';
import { daemonIdentity } from '../daemon-end.ts';
import { unitFacts } from './facts.ts';
import { findInstalled, unitName } from './place.ts';
import { createSystemctl } from './systemctl.ts';
import { type Difference, differences, type Scope, unitText } from './unit.ts';

export interface ServiceView {
  readonly schema_version: 1;
  readonly unit: string;
  readonly installed: boolean;
  readonly scope: Scope | null;
  readonly path: string | null;
  /** systemd's words: "enabled", "active"; null: not installed, or systemd is not running here. */
  readonly enabled: string | null;
  readonly active: string | null;
  /** A unit written now would say the same. */
  readonly fits: boolean | null;
  readonly differences: readonly {
    readonly key: string;
    readonly is: string | null;
    readonly should_be: string | null;
  }[];
  /** Who runs the daemon that is there now. */
  readonly daemon: 'service' | 'guardian' | 'program' | 'foreground' | null;
}

export async function serviceStatus(
  session: Session,
  config: ResolvedConfig,
  given: Scope | null,
): Promise<ServiceView> {
  const unit = unitName(config.name);
  const daemon = daemonKind(session, unit);
  const installed = findInstalled(session, config.name, given);
  const none = {
    schema_version: 1,
    unit,
    installed: false,
    scope: null,
    path: null,
    enabled: null,
    active: null,
  } as const;
  if (installed === null) return { ...none, fits: null, differences: [], daemon };
  const { scope, path, text } = installed;
  const systemctl = createSystemctl(scope, session.world.env);
  const isRunning = await systemctl.isRunning();
  const different = differences(text, unitText(unitFacts(session, config, scope)));
  return {
    ...{ schema_version: 1, unit, installed: true, scope, path },
    enabled: isRunning ? await systemctl.ask('is-enabled', unit) : null,
    active: isRunning ? await systemctl.ask('is-active', unit) : null,
    fits: different.length === 0,
    differences: different.map(({ key, is, shouldBe }: Difference) => ({ key, is, should_be: shouldBe })),
    daemon,
  };
}

function daemonKind(session: Session, unit: string): ServiceView['daemon'] {
  const daemon = daemonIdentity(session);
  if (daemon === null || !daemonIsThere(session)) return null;
  if (daemon.hosted) return 'program';
  if (daemon.guardian_pid !== null) return 'guardian';
  return daemon.service === unit ? 'service' : 'foreground';
}

const DAEMONS: Readonly<Record<NonNullable<ServiceView['daemon']>, string>> = {
  service: 'run by this service',
  guardian: 'run by a guardian, without systemd ("keepwell service install" hands over)',
  program: 'part of a program that uses the library',
  foreground: 'run in the foreground by somebody else',
};

/** For people. */
export function serviceLines(view: ServiceView): readonly string[] {
  const daemon = `daemon:    ${view.daemon === null ? 'not running' : DAEMONS[view.daemon]}`;
  if (!view.installed) return [`${view.unit} is not installed`, daemon];
  const unknown = 'unknown (systemd is not running here)';
  return [
    `unit:      ${view.path} (${view.scope})`,
    `enabled:   ${view.enabled ?? unknown}`,
    `active:    ${view.active ?? unknown}`,
    daemon,
    `fits:      ${view.fits ? 'yes' : 'no; "keepwell service install" would write:'}`,
    ...view.differences.flatMap(({ key, is, should_be }) => [
      `  ${key}`,
      `    is      ${is ?? '(not there)'}`,
      `    becomes ${should_be ?? '(not there)'}`,
    ]),
  ];
}
