import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
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
