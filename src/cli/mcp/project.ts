/** What the tools ask a project, with a daemon or without one, here or on another machine. */
import { homePaths } from '../../base/home.ts';
import { redact } from '../../base/pure/redact.ts';
import { loggedNames } from '../../logs/names.ts';
import type { LogLineView, LogsFilter } from '../../logs/ports.ts';
import type { StatusView } from '../../supervision/rules/views.ts';
import type { CliCall } from '../call.ts';
import { namedLogs } from '../commands/logs.ts';
import { type Records, readRecords } from '../records.ts';
import { resolveTargets } from '../targets.ts';

export interface LogsWanted extends LogsFilter {
  readonly tail: number;
}

export interface ShownLines {
  readonly lines: readonly LogLineView[];
  readonly shown: readonly string[];
}

/** More than an answer has room for is not worth reading. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024;

export class McpProject {
  readonly call: CliCall;
  /** Values that must never be shown; those of the last configuration that could be read. */
  #secrets: readonly string[] = [];

  constructor(call: CliCall) {
    this.call = call;
  }

  /** What was read, and `source` with a sentence when the daemon was not asked. */
  async read<T>(ask: (records: Records) => Promise<T>): Promise<{ readonly value: T; readonly source: object }> {
    const { value, offline } = await readRecords(this.call, ask);
    return { value, source: offline === null ? {} : { source: `${offline}; this is what the records say` } };
  }

  async status(): Promise<StatusView> {
    return (await this.read((records) => records.status())).value;
  }

  async names(): Promise<readonly string[]> {
    return (await this.status()).components.map(({ name }) => name);
  }

  /** What one component wrote, oldest first; `shown` has the times in front, and secrets taken out. */
  async logs(name: string, wanted: LogsWanted): Promise<ShownLines> {
    const lines = this.call.host === null ? await this.#filed(name, wanted) : await this.#remote(name, wanted);
    const clean = await this.redacted(lines.map(({ line }) => line));
    // What is hidden over several lines leaves fewer of them: then nobody can say which time belongs to which.
    const isTimed = clean.length === lines.length;
    const shown = clean.map((line, index) => (isTimed ? `${lines[index]!.at ?? '-'} ${line}` : line));
    return { lines, shown };
  }

  async #remote(name: string, wanted: LogsWanted): Promise<readonly LogLineView[]> {
    const components = resolveTargets([name], await this.names());
    return (await this.call.client.logs({ ...wanted, components, after: {} })).lines;
  }

  async #filed(name: string, wanted: LogsWanted): Promise<readonly LogLineView[]> {
    const { call } = this;
    const { logs } = homePaths(call.project.home);
    const { FileCursor } = await import('../../logs/open.ts');
    const components = await namedLogs(call, [name], loggedNames(logs));
    await using cursor = new FileCursor(logs, { ...wanted, components, after: {} }, { tailBytes: MAX_TAIL_BYTES });
    const lines: LogLineView[] = [];
    for (let more = true; more; ) {
      const batch = await cursor.read();
      lines.push(...batch.lines);
      more = batch.more;
    }
    return [...lines, ...(await cursor.rest())];
  }

  /** As one text, because a private key goes over many lines. */
  async redacted(lines: readonly string[]): Promise<readonly string[]> {
    return lines.length === 0 ? [] : redact(lines.join('\n'), await this.#knownSecrets()).split('\n');
  }

  async #knownSecrets(): Promise<readonly string[]> {
    if (this.call.host !== null) return [];
    const { cwd, env } = this.call.world;
    try {
      const { loadConfig } = await import('../../config/load.ts');
      const { secretsOf } = await import('../../crashes/evidence.ts');
      const { baseEnvironment } = await import('../../drivers/launch-run.ts');
      const config = loadConfig({ ...this.call.project, env, cwd });
      const base = baseEnvironment(env);
      this.#secrets = [...new Set(config.components.flatMap((spec) => secretsOf(spec, base, config.secrets)))];
    } catch {
      // a file that is being edited: what was secret a moment ago still is
    }
    return this.#secrets;
  }
}
