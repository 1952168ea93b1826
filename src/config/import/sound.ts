/** Makes sure that what is written can be read back: no circles, and nothing that the loader would refuse. */
import { AppError } from '../../base/pure/errors.ts';
import { loadConfigFromTexts } from '../load.ts';
import { ConfigError } from '../problem.ts';
import { nameFrom } from '../readers.ts';
import type { Draft } from '../starter/draft.ts';
import { type Named, named, starterText } from '../starter/write.ts';
import { shorten } from '../text.ts';
import type { ImportFindings, Loss } from './findings.ts';

/** Who needs whom must not go in a circle; what would close one is left out, and said. */
export function withoutCircles(drafts: readonly Draft[], file: string): ImportFindings {
  const lost: Loss[] = [];
  const kept = new Map(drafts.map(({ name }) => [name, new Set<string>()]));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(kept.get(from) ?? [])].some((next) => reaches(next, to, seen));
  };
  const result = drafts.map((draft) => {
    if (draft.needs === undefined) return draft;
    const needs = Object.entries(draft.needs).filter(([other]) => {
      const closes = reaches(other, draft.name);
      if (closes) {
        const message = `${other} needs it, too: a circle cannot be started.`;
        lost.push({ file, line: 1, ...draft.at, component: draft.name, what: `depends_on.${shorten(other)}`, message });
      } else kept.get(draft.name)?.add(other);
      return !closes;
    });
    return { ...draft, needs: Object.fromEntries(needs) };
  });
  return { drafts: result, lost };
}

/** Only what the loader takes is written: a value that no program could receive loses its component, never the whole file. */
export function sound(
  drafts: readonly Draft[],
  file: string,
  project: string,
): { readonly drafts: readonly Named[]; readonly refused: readonly Loss[] } {
  const all = named(drafts);
  if (problemIn(all, project) === null) return { drafts: all, refused: [] };
  const refused: Loss[] = [];
  const good = all.filter((one) => {
    const problem = problemIn([{ ...one, needs: {} }], project);
    if (problem !== null) {
      const message = `it was left out: ${problem}.`;
      refused.push({ file, line: 1, ...one.at, component: one.key, what: 'component', message });
    }
    return problem === null;
  });
  const problem = good.length === 0 ? null : problemIn(good, project);
  if (problem !== null)
    throw new AppError('INTERNAL', { problem: `the imported configuration is not valid: ${problem}` });
  return { drafts: good, refused };
}

function problemIn(components: readonly Named[], project: string): string | null {
  const text = starterText({ project: nameFrom(project) || 'project', components, intro: [], notes: [] });
  const variables = [...text.matchAll(/(?<!\$)\$\{(\w+)\}/g)].map(([, name]) => [name!, 'x']);
  try {
    loadConfigFromTexts({
      files: [{ path: '/keepwell.yaml', text }],
      dotenv: null,
      env: Object.fromEntries(variables),
    });
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return `${error.problems[0]!.path}: ${error.problems[0]!.message}`;
    throw error;
  }
}
