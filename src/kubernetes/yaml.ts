/** Objects as YAML that every reader takes the same way: kubectl reads YAML 1.1, others 1.2, and neither may take text for something else. */

import { Document, isScalar, Scalar, visit } from 'yaml';
import type { KubernetesObject } from './rules/object.ts';

/** Nothing but letters at first, and no sign that could mean something. */
const PLAIN = /^[A-Za-z/](?:[\w./-]*[\w/])?(?::[\w./-]*[\w/])?$/;
/** What a limit looks like: a number, but no number. */
const QUANTITY = /^[0-9]+(?:m|Mi|Gi)$/;
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
/** Text of several lines that a block shows as it is. */
const BLOCK = /^[\t\n\x20-\x7e\u00a0-\u1fff\u2030-\u205f\u2070-\ud7ff\ue000-\ufefe\uff00-\uffef]*$/;
/** Line ends and marks that YAML 1.1 or a terminal would act on; they are only in quoted text. */
const RISKY = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|\p{Surrogate}/gu;

const OPTIONS = { version: '1.2', aliasDuplicateObjects: false } as const;

export function yamlDocument(object: KubernetesObject): string {
  const document = new Document(object, OPTIONS);
  visit(document, {
    Scalar: (_, node) => {
      if (isScalar(node) && typeof node.value === 'string') node.type = styleOf(node.value);
    },
  });
  return document
    .toString({ lineWidth: 0, indentSeq: true, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER })
    .replace(RISKY, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function styleOf(text: string): Scalar.Type {
  if ((PLAIN.test(text) && !WORDS.test(text)) || QUANTITY.test(text)) return Scalar.PLAIN;
  const isBlock = text.includes('\n') && BLOCK.test(text) && !/^\s|[ \t]\n|[ \t]$/.test(text);
  return isBlock ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
}

/** A file: lines of comment, then documents. */
export function yamlFile(head: readonly string[], documents: readonly string[]): string {
  const comment = head.map((line) => (line === '' ? '#' : `# ${line}`)).join('\n');
  return [...(head.length === 0 ? [] : [`${comment}\n`]), ...documents].join('---\n');
}
