/**
 * Builds the page: dashboard/ as one script and one style sheet with hashed names, and what the listener serves as one file, dist/page/assets.json.
 * Nothing else is ever served, so no path of a request touches the disk.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

const sha256 = (body) => createHash('sha256').update(body).digest('hex');

function asset(path, text) {
  const body = Buffer.from(text);
  return {
    path,
    type: TYPES[path.split('.').at(-1)],
    sha256: sha256(body),
    size: body.length,
    gzip: gzipSync(body, { level: 9 }).toString('base64'),
  };
}

/** The name changes with the content, so that browsers may keep it for ever. */
const hashed = (name, extension, text) => `/assets/${name}-${sha256(text).slice(0, 10)}.${extension}`;

/** Comments and the blanks between rules: the rest is left as it was written. */
const smaller = (css) =>
  css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .trim();

async function script() {
  const build = await rolldown({
    cwd: root,
    input: 'dashboard/main.tsx',
    platform: 'browser',
    tsconfig: 'dashboard/tsconfig.json',
    transform: { target: 'es2023' },
    logLevel: 'warn',
  });
  const { output } = await build.generate({ format: 'es', minify: true, codeSplitting: false });
  await build.close();
  if (output.length !== 1) throw new Error(`the page must be one script, not ${output.length}`);
  return { code: output[0].code, inputs: output[0].moduleIds };
}

/** Writes OUT/page/assets.json; returns the paths of all sources that went in. */
export async function buildPage(out) {
  const { code, inputs } = await script();
  const css = smaller(readFileSync(join(root, 'dashboard/style.css'), 'utf8'));
  const [js, style] = [hashed('app', 'js', code), hashed('app', 'css', css)];
  const html = readFileSync(join(root, 'dashboard/index.html'), 'utf8').replace('%CSS%', style).replace('%JS%', js);
  const assets = [asset('/index.html', html), asset(js, code), asset(style, css)];
  mkdirSync(join(out, 'page'), { recursive: true });
  writeFileSync(join(out, 'page', 'assets.json'), JSON.stringify(assets));
  return inputs;
}
