/** The page as it was built: one file with everything in it, read when the listener opens. Requests are looked up in memory. */
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { readRegularFile } from '../base/regular-file.ts';
import type { Asset } from './ports.ts';

interface BuiltAsset {
  readonly path: string;
  readonly type: string;
  readonly sha256: string;
  readonly size: number;
  /** Base64. */
  readonly gzip: string;
}

/** Nothing of the API can be hidden by a part of the page. */
const PATH = /^\/(?:[a-z0-9][a-z0-9-]*\.[a-z0-9]+|assets\/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)$/;
const HASHED = /^\/assets\//;
const MAX_ASSET_BYTES = 4 * 1024 * 1024;

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Keepwell</title>
<p>The page is not part of this build. The API is served here all the same.
<p>In the source of Keepwell, run <code>npm run build</code>: it is shown within seconds.
</html>
`;

export interface Page {
  readonly assets: ReadonlyMap<string, Asset>;
  /** Why there is none; null: it is there. */
  readonly problem: string | null;
}

/** Never throws: the API is served with or without it. `file` null: this installation has none. */
export function loadPage(file: string | null): Page {
  try {
    if (file === null) throw new Error('this build has no page');
    const built = JSON.parse(readRegularFile(file, { follow: true })) as readonly BuiltAsset[];
    const assets = new Map(built.map((each) => [each.path, unpack(each)]));
    const index = assets.get('/index.html');
    if (index === undefined) throw new Error('it has no /index.html');
    return { assets: assets.set('/', index), problem: null };
  } catch (error) {
    return { assets: new Map([['/', placeholder()]]), problem: (error as Error).message };
  }
}

function unpack({ path, type, sha256, size, gzip }: BuiltAsset): Asset {
  if (!PATH.test(path)) throw new Error(`${JSON.stringify(path)} cannot be a part of the page`);
  if (size > MAX_ASSET_BYTES) throw new Error(`${path} is too large`);
  const packed = Buffer.from(gzip, 'base64');
  const plain = gunzipSync(packed, { maxOutputLength: Math.max(size, 1) });
  if (plain.length !== size || hashOf(plain) !== sha256) throw new Error(`${path} is not what was built`);
  return { type, etag: `"${sha256.slice(0, 32)}"`, isHashed: HASHED.test(path), plain, gzip: packed };
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function placeholder(): Asset {
  const plain = Buffer.from(NOT_BUILT);
  return {
    type: 'text/html; charset=utf-8',
    etag: `"${hashOf(plain).slice(0, 32)}"`,
    isHashed: false,
    plain,
    gzip: null,
  };
}
