import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of its own that is gone when the test is: `using dir = tempDir()`. */
export function tempDir(): { readonly path: string; at(name: string): string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'keepwell-test-'));
  return {
    path,
    at: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
