import { describe, expect, test } from 'vitest';
import { parseSize, sizeText } from '../../../src/config/size.ts';
import { api, oneProblem, only, proc, processOf } from './support.ts';

describe('sizes', () => {
  test.each([
    ['1B', 1],
    ['50MB', 50_000_000],
    ['512MiB', 536_870_912],
    ['1.5GB', 1_500_000_000],
    ['2TiB', 2 * 2 ** 40],
  ])('%s is %d bytes, and is written back so that it is read the same', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
    expect(parseSize(sizeText(bytes))).toBe(bytes);
  });

  test.each(['', '5', 'MB', '5mb', '5 MB', '-5MB', '1e3MB', '5M', '5MBB'])('%j is not a size', (text) => {
    expect(parseSize(text)).toBeNull();
  });

  test.each([
    ['limits: { memory: 512 }', 'must be a size, not "512" | Write 512MiB, 512MB or 512B: a size needs its unit.'],
    ['limits: { memory: 512M }', 'Write 512MiB (2^20 bytes each) or 512MB (10^6).'],
    ['limits: { memory: 1g }', 'Write 1GiB (2^30 bytes each) or 1GB (10^9).'],
    ['limits: { memory: 64kib }', 'Write 64KiB.'],
    ['limits: { memory: lots }', 'Write a number with its unit'],
    ['limits: { memory: 10KB }', 'must be at least 1MiB'],
    ['limits: { memory: 5000TiB }', 'more than any machine has'],
    ['limits: { memory: 1GB, soft_memory: 1GB }', 'soft_memory (1GB) must be less than memory (1GB)'],
    ['limits: { pids: 0 }', 'from 1 to 4194304'],
    ['limits: { cpus: 2 }', 'only a container can be limited to so many processors'],
    ['logs: { max_size: 1KB }', 'must be at least 64KiB'],
    ['logs: { max_total: 1GB }', 'unknown key "max_total"'],
  ])('%s: %s', (keys, problem) => {
    expect(oneProblem(api(keys))).toContain(problem);
  });

  test('something external has no limits of ours', () => {
    const text = 'components: { a: { external: { pid_file: x }, limits: { pids: 5 } } }';
    expect(oneProblem(text)).toContain('not ours to limit');
  });
});

describe('as whom', () => {
  test.each([
    ['app', 'app'],
    ['1000', '1000'],
    ['"1000"', '1000'],
    ['"svc$"', 'svc$'],
  ])('user: %s', (written, user) => {
    expect(processOf(only(proc(`command: [a], user: ${written}`))).user).toBe(user);
  });

  test.each([
    ['user: "app:www"', 'Give the user and the group each their own line'],
    ['user: -1', 'is not the name or number of an account'],
    ['user: "a b"', 'is not the name or number of an account'],
    ['umask: 027', 'Put it in quotes: "027".'],
    ['umask: 22', 'Write three octal digits in quotes'],
    ['umask: "999"', 'must be an octal number'],
    ['nice: 20', 'from -20 to 19'],
  ])('%s: %s', (key, problem) => {
    expect(oneProblem(proc(`command: [a], ${key}`))).toContain(problem);
  });
});
