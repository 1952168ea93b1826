/** A log watch over real files with the real worker, and what it told. */
import { appendFileSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Log } from '../../../src/base/log.ts';
import { createLogWatch, type LogWatch } from '../../../src/probes/log/log-watch.ts';
import type { Inquiry, PatternHit } from '../../../src/supervision/ports/prober.ts';
import type { Answer } from '../../../src/supervision/rules/health/probe.ts';
import type { ComponentSpec } from '../../../src/supervision/spec.ts';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { neverShortened, target } from './target.ts';

export interface Said {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function recordingLog(): { readonly log: Log; readonly said: readonly Said[] } {
  const said: Said[] = [];
  const at =
    (level: Said['level']) =>
    (message: string, data: Readonly<Record<string, unknown>> = {}) =>
      void said.push({ level, message, data });
  return { said, log: { info: at('info'), warn: at('warn'), error: at('error') } };
}

export class LogWorld {
  readonly dir = tempDir();
  readonly said: readonly Said[];
  readonly watch: LogWatch;

  constructor(workerFile: string) {
    const { log, said } = recordingLog();
    this.said = said;
    this.watch = createLogWatch({
      logPath: ({ name }: ComponentSpec) => this.path(name),
      workerFile,
      log,
      place: neverShortened,
    });
  }

  path(name: string): string {
    return this.dir.at(`${name}.log`);
  }

  write(name: string, text: string | Buffer): void {
    appendFileSync(this.path(name), text);
  }

  /** Collects what is found. */
  hits(patterns: readonly string[], name: string, logFrom = 0): readonly PatternHit[] & Disposable {
    const hits: PatternHit[] = [];
    const watched = this.watch.watch(patterns, target(name, logFrom), (hit) => hits.push(hit));
    return Object.assign(hits, { [Symbol.dispose]: () => watched[Symbol.dispose]() });
  }
}

/** One world for each test; the worker is bundled once. */
export function logWorld(): { readonly now: LogWorld; readonly workerFile: string } {
  let worker: Bundle;
  let world: LogWorld;
  beforeAll(async () => {
    await stat('.'); // with the first use Node starts its threads for files; `threads` is to count the others
    worker = await bundle('src/probes/log/pattern-worker.ts');
  });
  afterAll(() => worker.remove());
  beforeEach(() => {
    world = new LogWorld(worker.path);
  });
  afterEach(async () => {
    await world.watch.close();
    world.dir[Symbol.dispose]();
  });
  return {
    get now() {
      return world;
    },
    get workerFile() {
      return worker.path;
    },
  };
}

export const ask = (inquiry: Inquiry): Promise<Answer> => inquiry.ask(10_000, new AbortController().signal);

/** Asks until the answer has this outcome. */
export const askUntil = (inquiry: Inquiry, outcome: Answer['outcome']): Promise<Answer> =>
  waitFor(`the answer ${outcome}`, async () => {
    const answer = await ask(inquiry);
    return answer.outcome === outcome ? answer : null;
  });

export const openFiles = (): number => readdirSync('/proc/self/fd').length;
export const threads = (): number => readdirSync('/proc/self/task').length;
