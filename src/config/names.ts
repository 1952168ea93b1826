/** The names of components without anything else: no variables, no checks. For completion, which must be quick and never complain. */
import { NAME_PATTERN } from '../core/ids.ts';
import { readDocument } from './document.ts';
import { Problems } from './problem.ts';

export interface NamedText {
  readonly path: string;
  readonly text: string;
}

/** In file order, each once; what cannot be read names nothing. */
export function componentNames(files: readonly NamedText[]): readonly string[] {
  const names = new Set<string>();
  for (const { path, text } of files) {
    const components = readDocument(path, text, new Problems())?.entries.get('components')?.value;
    for (const name of components?.kind === 'map' ? components.entries.keys() : []) {
      if (NAME_PATTERN.test(name)) names.add(name);
    }
  }
  return [...names];
}
