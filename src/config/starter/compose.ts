/** A Compose file: its services cannot be components in this version, but people should see that they were not forgotten. */
import { readDocument } from '../document.ts';
import { flowText } from '../hints/argv.ts';
import { NOT_AVAILABLE } from '../hints/unavailable.ts';
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
      `${file} has services that Keepwell does not keep yet: components of the kind "compose" are`,
      `${NOT_AVAILABLE}. Start them with "docker compose up -d":`,
      ...shown.map(([name, { value }]) => `  ${printable(shorten(name))}${imageOf(value)}`),
      ...(entries.length > MAX_SHOWN ? [`  and ${entries.length - MAX_SHOWN} more`] : []),
      ...watchable(shown.map(([name, { value }]) => [name, portOf(value)] as const)),
    ],
  };
}

const child = (node: TreeNode, key: string): TreeNode | undefined =>
  node.kind === 'map' ? node.entries.get(key)?.value : undefined;

function imageOf(service: TreeNode): string {
  const image = child(service, 'image');
  return image?.kind === 'scalar' && image.source !== '' ? ` (${printable(shorten(image.source))})` : '';
}

/** The first port that the host can reach. */
function portOf(service: TreeNode): number | null {
  const ports = child(service, 'ports');
  for (const item of ports?.kind === 'list' ? ports.items : []) {
    const published = item.kind === 'map' ? child(item, 'published') : item;
    const text = published?.kind === 'scalar' ? String(published.value) : '';
    const port = item.kind === 'map' ? text : /^(?:[\d.]+:)?(\d+):\d+(?:\/tcp)?$/.exec(text)?.[1];
    if (port !== undefined && /^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536) return Number(port);
  }
  return null;
}

/** What can be had of it already: watching its port, so that something else can wait for it. */
function watchable(services: readonly (readonly [name: string, port: number | null])[]): string[] {
  const [first] = services.filter(([name, port]) => port !== null && nameFrom(name) !== '');
  if (!first) return [];
  const [name, port] = first;
  return [
    'What depends on one of them can wait for its port. Write among the components:',
    `  ${flowText(nameFrom(name))}:`,
    `    external: { address: "127.0.0.1:${port}" }`,
  ];
}
