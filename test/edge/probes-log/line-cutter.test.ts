import { StringDecoder } from 'node:string_decoder';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineCutter } from '../../../src/probes/log/follower.ts';
import { BATCH_BYTES, CHUNK_BYTES, MAX_LINE_BYTES } from '../../../src/probes/log/limits.ts';
import { countLines, lineAt, linesWith } from '../../../src/probes/log/log-file.ts';

const cut = (chunks: readonly Buffer[]): string => {
  const cutter = new LineCutter();
  return chunks.map((chunk) => cutter.push(chunk)).join('');
};

const SENTENCE = Buffer.from('é ß 猫 \u200d 😀👩‍🚀 \u001b[1;32mgreen\u001b[0m café\r\nsecond – line\n𝒳\n');
const READ = 'é ß 猫 \u200d 😀👩‍🚀 green café\nsecond – line\n𝒳\n';

describe('whatever the borders of the chunks are', () => {
  test('characters of several bytes, colours and line breaks stay whole when cut at every byte', () => {
    for (let at = 0; at <= SENTENCE.length; at++) {
      expect(cut([SENTENCE.subarray(0, at), SENTENCE.subarray(at)])).toBe(READ);
    }
  });

  test('and when they come byte by byte', () => {
    expect(cut(Array.from(SENTENCE, (byte) => Buffer.of(byte)))).toBe(READ);
  });

  test('the lines are the same as when all comes at once, also long and broken ones', () => {
    const short = fc.constantFrom('', '\n', '\n\n', '\r\n', 'ab', '猫', '😀', '\u001b[31m', '\u001b]');
    const long = fc.tuple(fc.constantFrom('x', 'é', '😀'), fc.integer({ min: -5, max: 5 }));
    const rubbish = fc.uint8Array({ maxLength: 12 });
    const piece = fc.oneof(short, long, rubbish);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(100_000)), (pieces, places) => {
        const whole = Buffer.concat(pieces.map(bytesOf));
        const borders = [0, ...places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length];
        const chunks = borders.slice(1).map((end, index) => whole.subarray(borders[index], end));
        return cut(chunks) === naive(whole); // a comparison by `expect` would print pages
      }),
      { numRuns: 1_000 },
    );
  });
});

/** A text, rubbish, or about as many characters as make the longest line. */
function bytesOf(piece: string | Uint8Array | readonly [string, number]): Buffer {
  if (typeof piece === 'string') return Buffer.from(piece);
  if (piece instanceof Uint8Array) return Buffer.from(piece);
  const [character, more] = piece;
  return Buffer.from(character.repeat(Math.floor(MAX_LINE_BYTES / Buffer.byteLength(character)) + more));
}

/** The same without regard to memory. */
function naive(bytes: Buffer): string {
  let text = '';
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, from);
    const end = newline < 0 ? bytes.length : newline;
    const line = bytes.subarray(from, end);
    if (line.length > MAX_LINE_BYTES) text += `${new StringDecoder('utf8').write(line.subarray(0, MAX_LINE_BYTES))}\n`;
    else if (newline >= 0) text += `${line.toString('utf8')}\n`;
    from = end + 1;
  }
  const sequence = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;
  return text.replaceAll('\r\n', '\n').replace(sequence, '');
}

describe('a line that is too long', () => {
  test('is cut after 8 KiB, at once, and the next one is whole', () => {
    const cutter = new LineCutter();
    expect(cutter.push(Buffer.alloc(MAX_LINE_BYTES + 1, 'x'))).toBe(`${'x'.repeat(MAX_LINE_BYTES)}\n`);
    expect(cutter.push(Buffer.from('still the same'))).toBe('');
    expect(cutter.push(Buffer.from(' line\nnext\n'))).toBe('next\n');
  });

  test('of exactly 8 KiB is not too long', () => {
    expect(cut([Buffer.alloc(MAX_LINE_BYTES, 'x'), Buffer.from('\nnext\n')])).toBe(
      `${'x'.repeat(MAX_LINE_BYTES)}\nnext\n`,
    );
  });

  test.each([1, 2, 3])('is not cut within a character (%i bytes before the end)', (before) => {
    const bytes = Buffer.from(`${'x'.repeat(MAX_LINE_BYTES - before)}😀 and more\n`);
    expect(cut([bytes])).toBe(`${'x'.repeat(MAX_LINE_BYTES - before)}\n`);
  });
});

test('one read and what was left over from the one before make no more than one batch', () => {
  const cutter = new LineCutter();
  cutter.push(Buffer.alloc(MAX_LINE_BYTES, 'x'));
  const lines = cutter.push(Buffer.alloc(CHUNK_BYTES, '\n'));
  expect(Buffer.byteLength(lines)).toBeLessThanOrEqual(BATCH_BYTES);
  expect(countLines(lines)).toBe(CHUNK_BYTES);
});

test('what stands at the end of a file that is over is a line too', () => {
  const cutter = new LineCutter();
  expect(cutter.push(Buffer.from('one\ntw'))).toBe('one\n');
  expect(cutter.flush()).toBe('tw\n');
  expect(cutter.flush()).toBe('');
  expect(cutter.push(Buffer.from('three\n'))).toBe('three\n');
});

test('after a skip, the rest of a line is left out', () => {
  const cutter = new LineCutter();
  cutter.skipLine();
  expect(cutter.push(Buffer.from('alf a'))).toBe('');
  expect(cutter.push(Buffer.from(' line\nwhole\n'))).toBe('whole\n');
});

describe('escape sequences are taken out', () => {
  test.each([
    ['\u001b[1mbold\u001b[22m', 'bold'],
    ['\u001b[38;2;1;2;3mcolour\u001b[m', 'colour'],
    ['\u001b]0;title\u0007after', 'after'],
    ['\u001b]8;;https://example.com\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u001b(Btext', 'text'],
    ['\u001b]0;never ended', '0;never ended'],
    ['\u001b[31', '\u001b[31'.slice(2)],
    ['a\u001b', 'a\u001b'],
    ['50%\r100% done', '50%\r100% done'],
  ])('%j reads %j', (written, read) => {
    expect(cut([Buffer.from(`${written}\n`)])).toBe(`${read}\n`);
  });

  test('a text full of unfinished sequences takes no longer than any other', () => {
    const cutter = new LineCutter();
    const worst = Buffer.from(`${'\u001b]'.repeat(4_000)}\n`.repeat(7)); // a quadratic search would take minutes for all of these
    for (let round = 0; round < 200; round++) cutter.push(worst);
  });
});

describe('in whole lines', () => {
  const lines = 'first\n\nthird é\nfourth third\n';
  test('those with a text are found, each once', () => {
    expect(linesWith(lines, 'third', 10)).toEqual([7, 15]);
    expect(linesWith(lines, 'r', 10)).toEqual([0, 7, 15]);
    expect(linesWith(lines, 'r', 2)).toEqual([0, 7]);
    expect(linesWith(lines, 'nothing', 10)).toEqual([]);
  });

  test('they are counted and found', () => {
    expect(countLines(lines)).toBe(4);
    expect(countLines(lines, 0, 7)).toBe(2);
    expect(lineAt(lines, 7)).toBe('third é');
    expect(lineAt('\n', 0)).toBe('');
  });
});
