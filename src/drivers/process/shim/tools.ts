/**
 * The handful of standard programs the shim needs, by absolute path: a component's PATH is its own business and need not
 * contain them.
 */
import { accessSync, constants, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Where distributions put them; the last one is NixOS. */
const DIRECTORIES = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];

export interface Tools {
  readonly sh: string;
  readonly ln: string;
  readonly mv: string;
  readonly env: string;
  readonly sleep: string;
  readonly setsid: string;
  readonly mkfifo: string;
  readonly renice: string;
  /** Null: there is none that can change users; the one of busybox cannot. */
  readonly setpriv: string | null;
}

export function findTools(): Tools {
  return {
    sh: isExecutable('/bin/sh') ? '/bin/sh' : find('sh'),
    ln: find('ln'),
    mv: find('mv'),
    env: find('env'),
    sleep: find('sleep'),
    setsid: find('setsid'),
    mkfifo: find('mkfifo'),
    renice: find('renice'),
    setpriv: places('setpriv').find((path) => basename(realpathSync(path)) !== 'busybox') ?? null,
  };
}

/** The bare name as a last resort, so that PATH gets a chance. */
const find = (name: string): string => places(name)[0] ?? name;

const places = (name: string): readonly string[] =>
  DIRECTORIES.map((directory) => join(directory, name)).filter(isExecutable);

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
