/** A short name for a text: 64 bits, the same on every machine. Two texts with one name are a matter of chance, not of skill. */

const OFFSETS = [0x811c9dc5, 0x9747b28c] as const;
const PRIMES = [0x01000193, 0x85ebca6b] as const;

export const shortHash = (text: string): string =>
  OFFSETS.map((offset, index) => half(text, offset, PRIMES[index]!)).join('');

function half(text: string, offset: number, prime: number): string {
  let hash = offset;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), prime);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return ((hash ^ (hash >>> 13)) >>> 0).toString(16).padStart(8, '0');
}
