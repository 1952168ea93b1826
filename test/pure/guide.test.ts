/** What the guide prints is pasted: a configuration must be whole, or its first line must say where it belongs. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { load } from './config/support.ts';

const PAGES = readdirSync('docs/guide').filter((name) => name.endsWith('.md'));
const BLOCKS = PAGES.flatMap((page) => {
  const text = readFileSync(`docs/guide/${page}`, 'utf8');
  return [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block]) => [page, block!] as const);
});

test.each(BLOCKS.filter(([, block]) => !block.startsWith('#')))(
  '%s: YAML is a whole configuration, or is marked as a part of one',
  (_page, block) => {
    expect(() => load(block)).not.toThrow();
  },
);
