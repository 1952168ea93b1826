/** Who runs a campaign: locks that the kernel takes away with the process, one for the campaign, one for its compose project. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLock } from '../base/lock.ts';
import { AppError } from '../base/pure/errors.ts';
import { isMissing } from '../base/regular-file.ts';

/** Whoever only looks whether a lock is held, holds it for a moment. */
const TRIES = 10;
const PAUSE_MS = 50;

export const campaignDir = (home: string, name: string): string => join(home, 'campaigns', name);

const campaignLock = (home: string, name: string): string => join(campaignDir(home, name), 'lock.db');
const composeLock = (home: string, composeFile: string): string =>
  join(home, 'campaigns', `compose-${createHash('sha256').update(composeFile).digest('hex').slice(0, 16)}.lock.db`);

/** Throws CAMPAIGN_BUSY. */
export async function lockCampaign(
  home: string,
  { name, composeFile }: { readonly name: string; readonly composeFile: string },
): Promise<Disposable> {
  mkdirSync(campaignDir(home, name), { recursive: true, mode: 0o700 });
  const own = await take(campaignLock(home, name), `The campaign ${name}`);
  try {
    const compose = await take(composeLock(home, composeFile), `The compose file ${composeFile}`);
    return {
      [Symbol.dispose]: () => {
        compose[Symbol.dispose]();
        own[Symbol.dispose]();
      },
    };
  } catch (error) {
    own[Symbol.dispose]();
    throw error;
  }
}

async function take(path: string, what: string): Promise<Disposable> {
  for (let tries = 1; ; tries += 1) {
    const lock = await takeLock(path);
    if (lock) return { [Symbol.dispose]: () => lock.release() };
    if (tries === TRIES) throw new AppError('CAMPAIGN_BUSY', { what });
    await sleep(PAUSE_MS);
  }
}

export async function isRunning(home: string, name: string): Promise<boolean> {
  const path = campaignLock(home, name);
  if (isMissing(path)) return false;
  const lock = await takeLock(path);
  lock?.release();
  return lock === null;
}
