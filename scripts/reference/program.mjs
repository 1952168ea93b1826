/** The library as the compiler sees it, for the pages that are made from types. */
import { createRequire } from 'node:module';
import { join } from 'node:path';

export const ts = createRequire(import.meta.url)('typescript');

let made;

/** Read once, when the first page asks: types that are generated themselves are written by then. */
export function libraryProgram(root) {
  if (made) return made;
  const { config } = ts.readConfigFile(join(root, 'tsconfig.lib.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  made = ts.createProgram([join(root, 'src/index.ts')], { ...options, emitDeclarationOnly: true, declaration: true });
  return made;
}
