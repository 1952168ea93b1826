/** Where the demo happens: a directory of its own with the configuration and the programs, and two free ports. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { AppError } from '../../base/pure/errors.ts';
import { PROGRAMS } from './programs.ts';
import { type Ports, stackYaml } from './stack.ts';

export const DIR_PREFIX = 'keepwell-demo-';

export interface Place {
  readonly dir: string;
  readonly config: string;
  readonly home: string;
}

export const placeAt = (dir: string): Place => ({
  dir,
  config: join(dir, 'keepwell.yaml'),
  home: join(dir, '.keepwell'),
});

export const temporaryFolder = (): string => resolve(tmpdir());

/** Nothing but an empty directory: from here on there is something to clean up. */
export function makePlace(): Place {
  const folder = temporaryFolder();
  return written(folder, () => placeAt(mkdtempSync(join(folder, DIR_PREFIX))));
}

export function furnish({ dir, config }: Place, node: string, ports: Ports): void {
  written(dir, () => {
    for (const [name, text] of Object.entries(PROGRAMS)) writeFileSync(join(dir, name), text);
    mkdirSync(join(dir, 'outbox'));
    writeFileSync(config, stackYaml(node, ports));
  });
}

/** Does something that needs a place on a disk, and explains it when there is none. */
export function written<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    const reason = (cause as Error).message.split(', ')[0]; // without the name of the system call
    const problem = `${reason}. The demo needs a temporary folder; TMPDIR can name another one.`;
    throw new AppError('FILE_NOT_WRITTEN', { file, problem }, { cause });
  }
}

/** Both at once, so that they differ. */
export async function freePorts(): Promise<Ports> {
  const servers = [createServer(), createServer()] as const;
  try {
    const [web, reports] = [await listen(servers[0]), await listen(servers[1])];
    return { web, reports };
  } finally {
    for (const server of servers) server.close();
  }
}

const listen = (server: Server): Promise<number> =>
  new Promise((done, failed) => {
    const refuse = (error: Error) =>
      failed(new AppError('DEMO_FAILED', { problem: `no free port on 127.0.0.1 (${error.message}).` }));
    server.once('error', refuse);
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port));
  });
