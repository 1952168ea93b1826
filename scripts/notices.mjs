/** The licences of the packages that were bundled: they ask to go along with their code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `inputs`: paths of all bundled files, relative to `root`. */
export function notices(root, inputs) {
  const dirs = new Set(inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const texts = [...dirs].map((dir) => noticeOf(join(root, dir)));
  return `This package contains code of the following packages.\n\n${[...new Set(texts)].sort().join('\n\n')}\n`;
}

function noticeOf(dir) {
  const { name, version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const files = readdirSync(dir).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(dir, file), 'utf8').trim());
  return [`${'='.repeat(80)}\n${name} ${version} (${license})`, ...texts].join('\n\n');
}
