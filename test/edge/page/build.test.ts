import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { assets, bodyOf } from '../../support/page-server.ts';

const MAX_SCRIPT_BYTES = 60_000;

test('the page is one file with what is served, and nothing else', () => {
  expect(readdirSync('dist/page')).toEqual(['assets.json']);
  expect(assets().map(({ path }) => path.replace(/-[0-9a-f]{10}\./, '-HASH.'))).toEqual([
    '/index.html',
    '/assets/app-HASH.js',
    '/assets/app-HASH.css',
  ]);
});

test('every asset is what its hash and its size say', () => {
  for (const asset of assets()) {
    const body = bodyOf(asset);
    expect(body.length).toBe(asset.size);
    expect(createHash('sha256').update(body).digest('hex')).toBe(asset.sha256);
  }
});

test('the script is small', () => {
  const script = assets().find(({ path }) => path.endsWith('.js'))!;
  expect(Buffer.from(script.gzip, 'base64').length).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
});

test('nothing is inline, and nothing comes from elsewhere', () => {
  for (const asset of assets()) {
    const text = bodyOf(asset).toString();
    if (asset.path === '/index.html') expect(text).not.toMatch(/<style|<script(?![^>]*src=)|\son\w+=|\sstyle=/);
    if (!asset.path.endsWith('.js')) expect(text).not.toMatch(/https?:\/\//);
  }
});
