import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLine } from '../../../src/cli/print/json.ts';
import { sanitise, sanitiseText } from '../../../src/cli/print/sanitise.ts';
import { LineSplitter } from '../../../src/logs/lines.ts';
import { cpuTimeMs } from '../../support/cpu-time.ts';

const ESC = '\u001b';
const BEL = '\u0007';
const ST = `${ESC}\\`;

/** What a program may print, what is left of it, and what is left when colours are kept. */
const CORPUS: [what: string, raw: string, plain: string, coloured?: string][] = [
  ['plain text', 'all is well', 'all is well'],
  ['a tab', 'a\tb', 'a\tb'],
  ['accents and emoji', 'naïve 日本 💥', 'naïve 日本 💥'],
  ['colour', `${ESC}[31mred${ESC}[0m`, 'red', `${ESC}[31mred${ESC}[0m${ESC}[0m`],
  ['24-bit colour with colons', `${ESC}[38:2::255:0:0mred`, 'red', `${ESC}[38:2::255:0:0mred${ESC}[0m`],
  ['a window title (OSC 0, BEL)', `a${ESC}]0;pwned${BEL}b`, 'ab'],
  ['a window title (OSC 2, ST)', `a${ESC}]2;pwned${ST}b`, 'ab'],
  ['a link (OSC 8)', `${ESC}]8;;http://evil${ST}click${ESC}]8;;${ST}`, 'click'],
  ['the clipboard (OSC 52)', `a${ESC}]52;c;ZXZpbA==${BEL}b`, 'ab'],
  ['the answerback of DECRQSS (DCS)', `a${ESC}P$q"p${ST}b`, 'ab'],
  ['a device report', `a${ESC}[6nb${ESC}[c`, 'ab'],
  ['clearing the screen', `a${ESC}[2J${ESC}[Hb`, 'ab'],
  ['moving up over earlier lines', `${ESC}[1A${ESC}[2Kfake`, 'fake'],
  ['the alternate screen', `${ESC}[?1049hx${ESC}[?1049l`, 'x'],
  ['a private SGR look-alike', `${ESC}[?31mx${ESC}[>4;2mx`, 'xx'],
  ['APC, PM, SOS', `a${ESC}_x${ST}${ESC}^y${ST}${ESC}Xz${ST}b`, 'ab'],
  ['a character set', `a${ESC}(0qqq${ESC}(B`, 'aqqq'],
  ['a full reset', `a${ESC}cb`, 'ab'],
  ['C1 CSI', 'a\u009b31mb', 'ab'],
  ['C1 OSC', 'a\u009d0;t\u009cb', 'ab'],
  ['C1 DCS with ST', 'a\u0090q\u009cb', 'ab'],
  ['bidirectional controls', 'if (a\u202e \u2066// ok\u2069)', 'if (a // ok)'],
  ['marks of direction', 'a\u200e\u200f\u061cb', 'ab'],
  ['line and paragraph separators', 'a\u2028b\u2029c', 'abc'],
  ['backspace, NUL, bell, delete', 'a\b\0\x07\x7fb', 'ab'],
  ['a progress bar', '10%\r50%\r100%', '10% 50% 100%'],
  ['Windows line ends', 'done\r', 'done'],
  ['a notification (OSC 9) and iTerm (OSC 1337)', `a${ESC}]9;hi${BEL}${ESC}]1337;File=x:AAAA${BEL}b`, 'ab'],
  [
    'colours of the palette (OSC 4, 10, 11) and their answers',
    `a${ESC}]4;1;?${ST}${ESC}]10;?${BEL}${ESC}]11;?${ST}b`,
    'ab',
  ],
  [
    'a link with its text in colour',
    `${ESC}]8;;x${BEL}${ESC}[4mt${ESC}[m${ESC}]8;;${BEL}`,
    't',
    `${ESC}[4mt${ESC}[m${ESC}[0m`,
  ],
  ['a user-defined key (DECUDK)', `a${ESC}P0;1|17/6c73${ST}b`, 'ab'],
  ['a picture (sixel)', `a${ESC}Pq#0;2;0;0;0~~${ST}b`, 'ab'],
  ['the printer, the mouse, bracketed paste', `a${ESC}[5i${ESC}[?1000h${ESC}[?2004hb${ESC}[4i`, 'ab'],
  ['a window report and its move', `a${ESC}[21t${ESC}[3;0;0tb`, 'ab'],
  ['a scrolling region and an erased line', `a${ESC}[1;5r${ESC}[1Mb${ESC}[K`, 'ab'],
  ['a soft reset and a device status', `a${ESC}[!p${ESC}[0cb${ESC}Z`, 'ab'],
  ['single shifts and reverse index', `a${ESC}N1${ESC}O2${ESC}Mb`, 'a12b'],
  ['tmux and screen pass-through', `a${ESC}Ptmux;${ESC}${ESC}]52;c;eA==${BEL}${ST}b`, 'ab'],
  ['a hidden text keeps its words', `${ESC}[8msecret${ESC}[28m`, 'secret', `${ESC}[8msecret${ESC}[28m${ESC}[0m`],
  ['C1 APC, PM, SOS', 'a\u009fx\u009c\u009ey\u009c\u0098z\u009cb', 'ab'],
  ['an OSC ended by C1 ST', `a${ESC}]0;t\u009cb`, 'ab'],
  ['shift out and in, vertical tab, form feed', 'a\u000e\u000f\u000b\u000cb', 'ab'],
  ['an unfinished CSI', `a${ESC}[31`, 'a'],
  ['an unfinished OSC shows its text', `a${ESC}]0;title`, 'a0;title'],
  ['an escape at the end', `a${ESC}`, 'a'],
  ['an escape before something else', `a${ESC}\u00e9b`, 'aéb'],
  ['an escape inside a sequence', `a${ESC}[3${ESC}[31mb`, 'ab', `a${ESC}[31mb${ESC}[0m`],
];

describe.each(CORPUS)('%s', (_what, raw, plain, coloured = plain) => {
  test('without colours', () => expect(sanitise(raw)).toBe(plain));
  test('with colours', () => expect(sanitise(raw, { colours: true })).toBe(coloured));
  test('is the same however the bytes arrive', () => {
    const bytes = Buffer.from(`${raw}\n`);
    for (let at = 0; at <= bytes.length; at++)
      expect(throughLog([bytes.subarray(0, at), bytes.subarray(at)])).toBe(plain);
    expect(throughLog([...bytes].map((byte) => Buffer.from([byte])))).toBe(plain);
  });
});

function throughLog(chunks: readonly Buffer[]): string {
  const lines: string[] = [];
  const splitter = new LineSplitter(({ text }) => lines.push(sanitise(text)));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.flush();
  return lines.join('\n');
}

const DANGEROUS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const hostile = fc
  .array(fc.oneof(fc.constantFrom(ESC, BEL, ST, '[', ']', 'P', '31m', ';', '\u009b', '\u009d', '\r', 'x'), fc.string()))
  .map((parts) => parts.join(''));

test('nothing dangerous ever comes through', () => {
  fc.assert(fc.property(hostile, (raw) => void expect(sanitise(raw)).not.toMatch(DANGEROUS)));
});

test('with colours, nothing but SGR comes through', () => {
  const harmless = (raw: string) => sanitise(raw, { colours: true }).replaceAll(/\u001b\[[0-9;:]*m/g, '');
  fc.assert(fc.property(hostile, (raw) => void expect(harmless(raw)).not.toMatch(DANGEROUS)));
});

test('text is clean after one pass: a second one finds nothing', () => {
  fc.assert(fc.property(hostile, (raw) => void expect(sanitise(sanitise(raw))).toBe(sanitise(raw))));
});

test('line breaks of longer texts stay', () => {
  expect(sanitiseText(`a${ESC}[2J\nb`)).toBe('a\nb');
});

test('a line of nothing but unfinished sequences takes no quadratic time', () => {
  const began = cpuTimeMs();
  sanitise(`${ESC}]`.repeat(200_000));
  sanitise(`${ESC}P`.repeat(200_000));
  expect(cpuTimeMs() - began).toBeLessThan(5_000);
});

test('JSON is harmless on a terminal and still says everything', () => {
  const value = { line: `${ESC}[31m\u009b\u202e\u2028\u007f` };
  const text = jsonLine(value);
  expect(text.slice(0, -1)).not.toMatch(DANGEROUS);
  expect(JSON.parse(text)).toEqual(value);
});
