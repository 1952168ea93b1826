import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ownerId } from '../../../src/docker/owner-id.ts';
import { tempDir } from '../../support/temp-dir.ts';

test('a home keeps its id, also when it is moved', () => {
  using dir = tempDir();
  const home = dir.at('home');
  mkdirSync(home);
  const id = ownerId(home);
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(ownerId(home)).toBe(id);
  renameSync(home, dir.at('moved'));
  expect(ownerId(dir.at('moved'))).toBe(id);
});

test('a copy of a home gets an id of its own, so that it never clears away what belongs to the original', () => {
  using dir = tempDir();
  const home = dir.at('home');
  mkdirSync(home);
  const id = ownerId(home);
  cpSync(home, dir.at('copy'), { recursive: true });
  expect(ownerId(dir.at('copy'))).not.toBe(id);
  expect(ownerId(home)).toBe(id);
});

test('half an id, from a disk that was full, is none', () => {
  using dir = tempDir();
  writeFileSync(dir.at('owner'), '12ab');
  expect(ownerId(dir.path)).toMatch(/^[0-9a-f]{16}$/);
});
