/** The names of components and checks without anything else: no variables, no checks. For completion, which must be quick and never complain. */
import { NAME_PATTERN } from '../base/pure/ids.ts';
import { readDocument } from './document.ts';
import { Problems } from './problem.ts';

export interface NamedText {
  readonly path: string;
  readonly text: string;
}

/** In file order, each once; what cannot be read names nothing. */
export const componentNames = (files: readonly NamedText[]): readonly string[] => namesUnder('components', files);

/** Without any of its own, a project has one check for each component. */
export function checkNames(files: readonly NamedText[]): readonly string[] {
  const names = namesUnder('checks', files);
  return names.length > 0 ? names : componentNames(files);
}

function namesUnder(key: string, files: readonly NamedText[]): readonly string[] {
  const names = new Set<string>();
  for (const { path, text } of files) {
    const map = readDocument(path, text, new Problems())?.entries.get(key)?.value;
    for (const name of map?.kind === 'map' ? map.entries.keys() : []) {
      if (NAME_PATTERN.test(name)) names.add(name);
    }
  }
  return [...names];
}
