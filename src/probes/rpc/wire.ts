/**
 * The little of protobuf that our questions need: texts, numbers and messages within messages. Fields that are not asked for are
 * stepped over, so newer servers may say more.
 */

/** The bytes are no protobuf message. */
export class Malformed extends Error {}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** A number or some bytes, as the field says; null: of a fixed size, which nobody asks for. */
type Value = bigint | Uint8Array | null;

export type Fields = ReadonlyMap<number, readonly Value[]>;

const MAX_FIELD_NUMBER = 2n ** 29n - 1n;
const MAX_VARINT_BYTES = 10;
/** Far more than the pollers of a queue. A flood of tiny ones would hold up the daemon: reading a hundred thousand takes a second. */
const MAX_FIELDS = 20_000;

/** All fields by their numbers, in the order they came in. Throws `Malformed`. */
export function readFields(bytes: Uint8Array): Fields {
  const fields = new Map<number, Value[]>();
  let at = 0;
  let count = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Malformed('it ends within a number');
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new Malformed('a number is too long');
  };
  const take = (length: bigint): Uint8Array => {
    if (length > BigInt(bytes.length - at)) throw new Malformed('it ends within a field');
    at += Number(length);
    return bytes.subarray(at - Number(length), at);
  };
  while (at < bytes.length) {
    if (++count > MAX_FIELDS) throw new Malformed('it has too many fields');
    const tag = varint();
    const number = tag >> 3n;
    if (number === 0n || number > MAX_FIELD_NUMBER) throw new Malformed('there is no such field');
    const value = readValue(Number(tag & 7n), varint, take);
    const known = fields.get(Number(number));
    if (known) known.push(value);
    else fields.set(Number(number), [value]);
  }
  return fields;
}

function readValue(type: number, varint: () => bigint, take: (length: bigint) => Uint8Array): Value {
  switch (type) {
    case VARINT:
      return varint();
    case LENGTH_DELIMITED:
      return take(varint());
    case FIXED64:
      take(8n);
      return null;
    case FIXED32:
      take(4n);
      return null;
    default:
      throw new Malformed(`there is no field of type ${type}`);
  }
}

/** 0 when it is not there, as protobuf has it. Of several, the last counts. */
export function numberOf(fields: Fields, field: number, bits: 32 | 64): number {
  const value = fields.get(field)?.findLast((each) => typeof each === 'bigint') ?? 0n;
  return Number(BigInt.asIntN(bits, value));
}

export const messagesOf = (fields: Fields, field: number): readonly Fields[] =>
  (fields.get(field) ?? []).filter((each) => each instanceof Uint8Array).map(readFields);

/** What is empty or 0 is left out, as protobuf has it. */
export const textField = (field: number, text: string): Uint8Array =>
  text === '' ? new Uint8Array() : bytesField(field, Buffer.from(text));

export const numberField = (field: number, value: number): Uint8Array =>
  value === 0 ? new Uint8Array() : Buffer.concat([varintBytes(field << 3), varintBytes(value)]);

export const bytesField = (field: number, bytes: Uint8Array): Uint8Array =>
  Buffer.concat([varintBytes((field << 3) | LENGTH_DELIMITED), varintBytes(bytes.length), bytes]);

/** Of a whole number from 0 to 2^31 - 1. */
function varintBytes(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.of(...bytes, rest);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
