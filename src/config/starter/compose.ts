/** A Compose file: its services can be components, but which of them should be kept is for people to say. */
import { readDocument } from '../document.ts';
import { flowText } from '../hints/argv.ts';
import { Problems } from '../problem.ts';
import { nameFrom } from '../readers.ts';
import { printable, shorten } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import type { Folder } from './draft.ts';

const FILES = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];
const MAX_SHOWN = 30;

export interface ComposeFound {
  readonly file: string;
  readonly services: readonly string[];
  /** Without "#" in front. */
  readonly lines: readonly string[];
}

export function fromCompose(folder: Folder): ComposeFound | null {
  const file = FILES.find((name) => folder.has(name));
  if (file === undefined) return null;
  const root = readDocument(file, folder.read(file) ?? '', new Problems());
  const services = root ? child(root, 'services') : undefined;
  const entries = services?.kind === 'map' ? [...services.entries] : [];
  if (entries.length === 0) return { file, services: [], lines: [`${file} has no services that could be understood.`] };
  const shown = entries.slice(0, MAX_SHOWN);
  return {
    file,
    services: entries.map(([name]) => name),
    lines: [
      `${file} has services, which Keepwell can keep as well:`,
      ...shown.map(([name, { value }]) => `  ${printable(shorten(name))}${imageOf(value)}`),
      ...(entries.length > MAX_SHOWN ? [`  and ${entries.length - MAX_SHOWN} more`] : []),
      ...keepable(
        file,
        shown.map(([name]) => name),
      ),
    ],
  };
}

const child = (node: TreeNode, key: string): TreeNode | undefined =>
  node.kind === 'map' ? node.entries.get(key)?.value : undefined;

function imageOf(service: TreeNode): string {
  const image = child(service, 'image');
  return image?.kind === 'scalar' && image.source !== '' ? ` (${printable(shorten(image.source))})` : '';
}

/** One of them as a component. */
function keepable(file: string, services: readonly string[]): string[] {
  const first = services.find((name) => nameFrom(name) !== '' && /^[A-Za-z0-9._-]+$/.test(name));
  if (first === undefined) return [];
  return [
    'To have one of them started, watched and restarted, write among the components:',
    `  ${flowText(nameFrom(first))}:`,
    `    compose: { file: ${file}, service: ${flowText(first)} }`,
  ];
}
