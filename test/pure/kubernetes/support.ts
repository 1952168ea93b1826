/** Configurations of the fixtures, and renderings of texts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfigFromTexts, type ResolvedConfig } from '../../../src/config/load.ts';
import { type Render, type RenderOptions, renderKubernetes } from '../../../src/kubernetes/render.ts';
import { load } from '../config/support.ts';

const DIR = resolve('test/fixtures/kubernetes');
export const SECRETS = { DB_PASSWORD: 'hunter2-hunter2', API_TOKEN: 'tok-98765-secret' };

export const FIXTURES: readonly string[] = readdirSync(DIR, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

export const expectedFile = (name: string): string => join(DIR, name, 'expected.yaml');

export function fixture(name: string): ResolvedConfig {
  const path = join(DIR, name, 'keepwell.yaml');
  return loadConfigFromTexts({ files: [{ path, text: readFileSync(path, 'utf8') }], dotenv: null, env: SECRETS });
}

const OPTIONS: RenderOptions = { namespace: null, secrets: 'refer' };

export const renderFixture = (name: string, options: Partial<RenderOptions> = {}): Render =>
  renderKubernetes(fixture(name), { ...OPTIONS, ...options });

export const renderText = (text: string, options: Partial<RenderOptions> = {}): Render =>
  renderKubernetes(load(text, { env: SECRETS }), { ...OPTIONS, ...options });
