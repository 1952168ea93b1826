import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadConfig, saysTheSame } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { tempDir } from '../../support/temp-dir.ts';

const many = (count: number) =>
  `components:\n${Array.from({ length: count }, (_, i) => `  c${i}: { process: { command: [sleep, "1"] } }`).join('\n')}\n`;

test('a large configuration is read while the event loop goes on turning', async () => {
  using dir = tempDir();
  const file = dir.at('keepwell.yaml');
  writeFileSync(file, many(500));
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const config = await readConfig({ files: [file], env: {} });
  clearInterval(timer);
  expect(config.components).toHaveLength(500);
  expect(turns).toBeGreaterThan(3);
});

test('what is wrong with it comes back as the same error, with every problem', async () => {
  using dir = tempDir();
  const file = dir.at('keepwell.yaml');
  writeFileSync(file, 'components:\n  api: { proces: {} }\nnonsense: 1\n');
  const error = await readConfig({ files: [file], env: {}, cwd: dir.at('') }).then(null, (problem) => problem);
  expect(error).toBeInstanceOf(ConfigError);
  expect(error.problems.length).toBeGreaterThan(1);
  expect(error.message).toContain('keepwell.yaml:2:');
});

test('a configuration need not be read again while its files and their .env say the same', () => {
  using dir = tempDir();
  const [file, dotenv] = [dir.at('keepwell.yaml'), dir.at('.env')];
  writeFileSync(file, many(2));
  const before = loadConfig({ files: [file], env: {} });
  const after = (change: () => void): boolean => {
    change();
    return saysTheSame(before);
  };
  expect(after(() => {})).toBe(true);
  expect(after(() => mkdirSync(dotenv))).toBe(true); // a folder of another tool
  rmSync(dotenv, { recursive: true });
  expect(after(() => writeFileSync(dotenv, 'A=1\n'))).toBe(false);
  rmSync(dotenv);
  expect(after(() => symlinkSync(dotenv, dotenv))).toBe(false); // it cannot be read: that has to be said
  expect(after(() => rmSync(dotenv))).toBe(true);
  expect(after(() => writeFileSync(file, many(3)))).toBe(false);
  expect(after(() => writeFileSync(file, many(2)))).toBe(true);
  expect(after(() => rmSync(file))).toBe(false);
});
