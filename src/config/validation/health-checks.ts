/** Checks that could never be asked the way they are written: needs that do not exist, loops, paths that mean nothing. */
import { nearest } from '../../base/pure/suggest.ts';
import { findLoops } from '../cycles.ts';
import type { Problems } from '../problem.ts';
import type { CheckConfig } from '../shape/checks.ts';
import { inWords, printable, quoted, shorten } from '../text.ts';
import { locate, type MapNode, type Path } from '../tree.ts';
import type { Draft } from '../walk.ts';
import { nodeAt, type Say } from './draft.ts';
import { checkAsked } from './probes.ts';

type Check = Draft<CheckConfig>;

/** More than anybody reads; it keeps everything that walks the needs short. */
const MAX_CHECKS = 200;
const MAX_LISTED = 20;
const MAX_NAME_CHARS = 63;

export interface CheckedDraft {
  readonly checks?: { readonly [name: string]: Check | undefined } | undefined;
}

/** `components`: the names in the file, whether these can be used or not. */
export function checkChecks(
  draft: CheckedDraft,
  components: readonly string[],
  root: MapNode,
  problems: Problems,
): void {
  const written = root.entries.get('checks')?.value;
  if (written?.kind !== 'map' || !draft.checks) return;
  const say: Say = (path, message, hint) => problems.add(locate(root, path), path, message, hint);
  const names = [...written.entries.keys()];
  if (names.length === 0) say(['checks'], 'there are no checks', 'Name at least one, or remove the line.');
  if (names.length > MAX_CHECKS) {
    say(['checks'], `there are more than ${MAX_CHECKS} checks`, 'Split them into several projects.');
    return;
  }
  const needs = new Map<string, readonly string[]>();
  for (const name of names) {
    const check = draft.checks[name];
    if (!check) continue;
    const path = ['checks', name];
    checkAsked(check, nodeAt(written, [name]), path, say);
    checkPaths(check, path, say);
    checkComponent(check, components, path, say);
    needs.set(name, checkNeeds(check, names, path, say));
  }
  for (const loop of findLoops(needs)) {
    const [first, second] = [loop[0]!, loop[1]!];
    const at = needs.get(first)!.indexOf(second);
    const message = `these need each other, so none could be asked: ${loop.join(' -> ')}`;
    say(['checks', first, 'needs', at], message, 'Remove one of these needs.');
  }
}

/** The needs as they stand in the file, so that a place in the list is a place in the file. */
function checkNeeds({ needs = [] }: Check, names: readonly string[], path: Path, say: Say): readonly string[] {
  const list = needs.map((need) => need ?? '');
  for (const [index, need] of list.entries()) {
    if (need === '') continue; // wrong, and reported
    const at = [...path, 'needs', index];
    if (!names.includes(need)) say(at, `there is no check ${quoted(need)}`, others(need, names, 'checks'));
    else if (list.indexOf(need) < index) say(at, `${quoted(need)} is given twice`, 'Keep one of them.');
  }
  return list;
}

function checkComponent({ component }: Check, components: readonly string[], path: Path, say: Say): void {
  if (component === undefined || components.includes(component)) return;
  const message = `there is no component ${quoted(component)}`;
  say([...path, 'component'], message, others(component, components, 'components'));
}

function others(word: string, names: readonly string[], where: string): string {
  const meant = word.length <= MAX_NAME_CHARS ? nearest(word, names) : null;
  if (meant !== null) return `Did you mean "${meant}"?`;
  if (names.length === 0) return `There is nothing under "${where}".`;
  return names.length <= MAX_LISTED ? `There is ${inWords(names)}.` : `Look at the names under "${where}".`;
}

function checkPaths({ file_exists: file }: Check, path: Path, say: Say): void {
  if (!file) return;
  const at = [...path, 'file_exists', 'any_of'];
  const paths = Array.isArray(file.any_of) ? file.any_of : [];
  if (Array.isArray(file.any_of) && paths.length === 0)
    say(at, 'is empty, so nothing could be there', 'Name at least one path.');
  if (file.in === undefined) return;
  const listed = typeof file.any_of === 'string' ? [file.any_of] : paths;
  for (const [index, each] of listed.entries()) {
    if (each === undefined || each.startsWith('/')) continue;
    const hint = `Write /${printable(shorten(each.replace(/^(?:\.\/)+/, '')))}, or where it really is.`;
    const place = typeof file.any_of === 'string' ? at : [...at, index];
    say(place, 'a path inside a container must begin with a slash', hint);
  }
}
