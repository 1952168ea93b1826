/** Tests that failed, as the Test Anything Protocol tells it: "not ok", and below it what went wrong as YAML. */
import type { FoundCrash, Parser, RawFrame } from '../crash.ts';
import { frame } from './shared.ts';

const NOT_OK = /^(\s{0,40})not ok \d{1,9}(?: - (.*))?$/;
const FIELD = /^\s+(error|name|code|location|stack): (.*)$/;
const CALL = /^\s+(?:(\S.{0,200}?) \()?((?:file:\/\/)?[^\s():]{1,400}):(\d{1,7}):(\d{1,5})\)?$/;
const MAX_LINES = 60;

export const parseTap: Parser = (lines) => {
  const found: FoundCrash[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, indent, title = ''] = NOT_OK.exec(lines[at]!) ?? [];
    if (indent === undefined || !/^\s+---$/.test(lines[at + 1] ?? '')) continue;
    const one = failure(lines, at, title);
    // What contains a test that failed has failed, too: the one inside says why.
    if (one !== null) found.push(one);
    at = one?.last ?? at;
  }
  return found;
};

function failure(lines: readonly string[], at: number, title: string): FoundCrash | null {
  const fields = new Map<string, string>();
  const frames: RawFrame[] = [];
  let last = at + 1;
  for (let next = at + 2; next < lines.length && next - at < MAX_LINES; next++) {
    last = next;
    if (/^\s+\.\.\.$/.test(lines[next]!)) break;
    const [, name, value] = FIELD.exec(lines[next]!) ?? [];
    if (name !== undefined && !fields.has(name)) fields.set(name, textOf(lines, next, value!));
    const [, call, file, line, column] = CALL.exec(lines[next]!) ?? [];
    if (file !== undefined && fields.has('stack')) frames.push(frame(call, file, line, column));
  }
  const message = fields.get('error') ?? title;
  if (/^\d{1,6} subtests? failed$/.test(message)) return null;
  const type = fields.get('name') ?? fields.get('code') ?? 'test failed';
  return { language: 'node', first: at, last, chain: [{ type, message, frames }] };
}

/** A text in quotes, or the first of the lines below. */
function textOf(lines: readonly string[], at: number, value: string): string {
  if (/^[|>]-?$/.test(value)) return (lines[at + 1] ?? '').trim();
  return value.replace(/^(['"])(.*)\1$/, '$2').replaceAll("''", "'");
}
