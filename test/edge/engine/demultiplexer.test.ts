/** Streams of frames, cut anywhere. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { demultiplexer } from '../../../src/docker/exec/exec.ts';

function frame(output: number, text: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header[0] = output;
  header.writeUInt32BE(text.length, 4);
  return Buffer.concat([header, text]);
}

/** Pushes `stream` in pieces of these sizes, again and again. */
function outputOf(stream: Buffer, sizes: readonly number[]): { text: Buffer; isWhole: boolean } {
  const kept: Buffer[] = [];
  const frames = demultiplexer((bytes) => kept.push(Buffer.from(bytes)));
  for (let at = 0, n = 0; at < stream.length; n++) {
    const size = sizes[n % sizes.length]!;
    frames.push(stream.subarray(at, at + size));
    at += size;
  }
  return { text: Buffer.concat(kept), isWhole: frames.isWhole };
}

test('however it is cut, everything comes out once and in order', () => {
  const part = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.uint8Array({ maxLength: 40 }));
  fc.assert(
    fc.property(fc.array(part), fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (parts, sizes) => {
      const stream = Buffer.concat(parts.map(([output, text]) => frame(output, text)));
      const whole = Buffer.concat(parts.map(([, text]) => text));
      expect(outputOf(stream, sizes)).toEqual({ text: whole, isWhole: true });
      if (stream.length > 0) expect(outputOf(stream.subarray(0, -1), sizes).isWhole).toBe(false);
    }),
  );
});

test('many tiny frames are taken apart one by one, without a stack of them', () => {
  const stream = Buffer.alloc(9e5);
  for (let at = 0; at < stream.length; at += 9) frame(1, Buffer.from('x')).copy(stream, at);
  expect(outputOf(stream, [stream.length]).text.length).toBe(1e5);
});

test('what is no stream of frames is not taken for one', () => {
  expect(() => outputOf(Buffer.from('HTTP/1.1 500 oh'), [4])).toThrow('no stream of frames');
});
