/** A directory of logs, made by hand as format.ts says, and the lines that are read from it. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { FileCursor, type FileQuery, type ReadOptions } from '../../../src/logs/file-logs.ts';
import type { Moment, TimeEntry } from '../../../src/logs/format.ts';
import { logFile, partFile, timeEntryLine, timesFile } from '../../../src/logs/format.ts';
import type { LogLineView } from '../../../src/logs/ports.ts';
import { tempDir } from '../../support/temp-dir.ts';

export const ALL: FileQuery = { components: [], tail: 'all', after: {} };

export class LogWorld implements Disposable {
  readonly dir = tempDir();
  readonly notes: string[] = [];

  [Symbol.dispose](): void {
    this.dir[Symbol.dispose]();
  }

  path(component = 'api'): string {
    return this.dir.at(logFile(component));
  }

  write(text: string | Buffer, component = 'api'): void {
    appendFileSync(this.path(component), text);
  }

  part(base: number, text: string | Buffer, { form = 'plain' as 'plain' | 'gz', component = 'api' } = {}): string {
    const path = this.dir.at(partFile(component, base, form));
    writeFileSync(path, form === 'gz' ? gzipSync(text) : text);
    return path;
  }

  facts(facts: readonly TimeEntry[], component = 'api'): void {
    let last: Moment | null = null;
    for (const fact of facts) {
      appendFileSync(this.dir.at(timesFile(component)), timeEntryLine(fact, last));
      if (fact.kind === 'at') last = fact;
    }
  }

  base(position: number, component = 'api'): void {
    this.facts([{ kind: 'base', position }], component);
  }

  /** Begins anew, as the keeper does when old parts have gone. */
  rewriteFacts(facts: readonly TimeEntry[], component = 'api'): void {
    const path = this.dir.at(timesFile(component));
    const old = `${path}.old`;
    if (existsSync(path)) renameSync(path, old);
    this.facts(facts, component);
    renameSync(path, `${path}.tmp`);
    if (existsSync(old)) renameSync(old, path);
    renameSync(`${path}.tmp`, path);
  }

  open(query: Partial<FileQuery> = {}, options: ReadOptions = {}): FileCursor {
    const onNote = (component: string, note: string) => this.notes.push(`${component}: ${note}`);
    return new FileCursor(this.dir.path, { ...ALL, ...query }, { onNote, ...options });
  }

  /** To the end. */
  async read(query: Partial<FileQuery> = {}, options: ReadOptions = {}): Promise<readonly LogLineView[]> {
    await using cursor = this.open(query, options);
    return [...(await readAll(cursor)), ...(await cursor.rest())];
  }

  async texts(query: Partial<FileQuery> = {}): Promise<readonly string[]> {
    return (await this.read(query)).map(({ line }) => line);
  }
}

export async function readAll(cursor: FileCursor): Promise<readonly LogLineView[]> {
  const lines: LogLineView[] = [];
  for (let more = true; more; ) {
    const batch = await cursor.read();
    lines.push(...batch.lines);
    more = batch.more;
  }
  return lines;
}

const BLOCK_BYTES = 4096;

/** Whether the head of a file can be cut off in place here. */
export function canCollapse(dir: string): boolean {
  const path = `${dir}/.collapse-probe`;
  writeFileSync(path, Buffer.alloc(2 * BLOCK_BYTES));
  try {
    execFileSync('fallocate', ['-c', '-o', '0', '-l', String(BLOCK_BYTES), path], { stdio: 'ignore' });
    return true;
  } catch {
    if (process.env['KEEPWELL_REQUIRE_ALL'] === '1')
      throw new Error('collapse-range is needed: put TMPDIR on ext4 or xfs');
    return false;
  } finally {
    rmSync(path, { force: true });
  }
}
