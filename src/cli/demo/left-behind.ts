/** A demo that was killed with SIGKILL cannot clean up. The next one does it instead. */
import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp } from './clean-up.ts';
import { DIR_PREFIX, type Place, placeAt, temporaryFolder, written } from './place.ts';
import { startTimeOf } from './processes.ts';
import { Product, type ProductOptions } from './product.ts';

interface Owner {
  readonly pid: number;
  readonly start_time: string | null;
}

const ownerFile = ({ dir }: Place): string => join(dir, 'demo.json');

/** Whose demo this is: so one that was killed can be told from one that is going on. */
export function claim(place: Place): void {
  const owner: Owner = { pid: process.pid, start_time: startTimeOf(process.pid) };
  written(place.dir, () => writeFileSync(ownerFile(place), `${JSON.stringify(owner)}\n`));
}

/** From now on it belongs to whoever asked to keep it. */
export const giveAway = (place: Place): void => rmSync(ownerFile(place), { force: true });

/** Gives the directories that were cleared away. Those of other people, of demos that go on and of --keep stay. */
export function removeLeftBehind(options: Omit<ProductOptions, 'place'>): readonly string[] {
  const folder = temporaryFolder();
  return namesIn(folder).flatMap((name) => {
    const place = placeAt(join(folder, name));
    if (!name.startsWith(DIR_PREFIX) || !isOurs(place.dir)) return [];
    const owner = readOwner(place);
    if (owner === null || startTimeOf(owner.pid) === owner.start_time) return [];
    cleanUp(place, new Product({ ...options, place }));
    return [place.dir];
  });
}

/** A folder may be there for writing only. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Not a link, and nobody else can have put it there. */
function isOurs(dir: string): boolean {
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}

function readOwner(place: Place): Owner | null {
  try {
    return JSON.parse(readFileSync(ownerFile(place), 'utf8')) as Owner;
  } catch {
    return null; // kept, or killed before it had made anything else
  }
}
