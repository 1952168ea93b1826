/**
 * Takes secrets out of text before it is stored or shown: values that are known, private keys, what stands behind a telling name, and
 * what has the shape of a secret. Linear: expressions are tried at the first character of a word only, and read each character a
 * bounded number of times. A program may end after writing a megabyte without a blank.
 */
import { hideAssigned } from './redact/assigned.ts';
import { HIDDEN } from './redact/hidden.ts';
import { type Cut, hideKnown } from './redact/known.ts';
import { hidePrivateKeys } from './redact/private-keys.ts';
import { hideCutShapes, hideShapes } from './redact/shapes.ts';

export { type Cut, SECRET_NAME, secretValues } from './redact/known.ts';

/** `known`: exact values that must never appear, such as those of the component's secret-looking variables. */
export function redact(text: string, known: readonly string[] = [], cut: Cut = {}): string {
  const clean = hideShapes(hideAssigned(hidePrivateKeys(hideKnown(text, known, cut))));
  if (!cut.start && !cut.end) return clean;
  const begun = cut.start ? clean.replace(CUT_USERINFO, `${HIDDEN}@`) : clean;
  return cut.end ? hideCutShapes(begun) : begun;
}

/** The end of "postgres://user:password@db:5432/app". */
const CUT_USERINFO = /^[^\s/@"']{1,200}@(?=[\w.-]{1,253}(?::\d{1,5})?\/)/;
