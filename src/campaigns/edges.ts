/** Who stands behind each port of a campaign. */

import { systemClock } from '../base/clock.ts';
import { secretValues } from '../base/pure/redact.ts';
import { createExecs } from '../compose/detached/execs.ts';
import { createServices } from '../compose/services.ts';
import { createEngine } from '../docker/engine.ts';
import { killMarked } from '../docker/exec/exec.ts';
import { baseEnvironment, type Environment } from '../drivers/launch-run.ts';
import type { CampaignBook, CampaignObserver, CampaignParts, CampaignRecord } from './ports.ts';
import type { CampaignSpec } from './spec.ts';

export interface Observed extends CampaignObserver {
  /** It is ours now: what will be run, under which name. */
  begins(record: CampaignRecord, spec: CampaignSpec): void;
}

export interface EdgesOptions {
  readonly env: Environment;
  readonly book: CampaignBook;
  readonly observer: CampaignObserver;
  readonly record: Pick<CampaignRecord, 'composeFile' | 'projectDir'>;
  readonly logDir: string;
}

export function partsFor({ env, book, observer, record, logDir }: EdgesOptions): CampaignParts {
  const clock = systemClock;
  const secrets = secretValues(baseEnvironment(env));
  const engine = createEngine({ env, clock, secrets: () => secrets });
  const { composeFile: file, projectDir } = record;
  return {
    services: createServices({ engine, clock, env, endMarked: killMarked }, { file, projectDir, gpuCommand: null }),
    execs: createExecs({ engine, clock }),
    archives: engine,
    engine,
    book,
    clock,
    observer,
    logDir,
    secrets,
  };
}
