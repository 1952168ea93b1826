/** A Compose file: its services become components when nothing else says what to run, else they are only mentioned. */
import { readDocument } from '../document.ts';
import { Problems } from '../problem.ts';
import { nameFrom } from '../readers.ts';
import { inWords, printable, quoted, shorten } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import { flowText } from '../words/argv.ts';
import type { Draft, Folder, Need, StarterFindings } from './draft.ts';

export const COMPOSE_FILES = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];
const MAX_SHOWN = 30;
/** What Compose accepts as the name of a service. */
const SERVICE = /^[A-Za-z0-9._-]+$/;

const NEEDS: Readonly<Record<string, Need>> = {
  service_started: 'started',
  service_healthy: 'ready',
  service_completed_successfully: 'completed',
};

export interface ComposeFound extends StarterFindings {
  /** What to say of it when it is not used, without "#" in front. */
  readonly mention: readonly string[];
}

export function fromCompose(folder: Folder): ComposeFound | null {
  const file = COMPOSE_FILES.find((name) => folder.has(name));
  if (file === undefined) return null;
  const { drafts, all, left } = readCompose(file, folder.read(file) ?? '', new Problems());
  const names = drafts.map(({ name }) => name);
  return {
    file,
    drafts,
    remarks: leftOut(left.map(({ name }) => name)),
    mention: all.length === 0 ? [`${file} has no services that could be understood.`] : mention(file, all, names),
  };
}

export interface ComposeRead {
  readonly drafts: readonly Draft[];
  readonly all: readonly Service[];
  /** Services that only start when asked for, or whose names cannot be ours. */
  readonly left: readonly Service[];
}

export function readCompose(file: string, text: string, problems: Problems): ComposeRead {
  const root = readDocument(file, text, problems);
  const services = root ? child(root, 'services') : undefined;
  const all =
    services?.kind === 'map'
      ? [...services.entries].map(([name, { keyAt, value }]) => ({ name, value, line: keyAt.line }))
      : [];
  const isKept = ({ name, value }: Service) => SERVICE.test(name) && nameFrom(name) !== '' && !hasProfiles(value);
  return { drafts: drafted(file, all.filter(isKept)), all, left: all.filter((one) => !isKept(one)) };
}

export interface Service {
  readonly name: string;
  readonly value: TreeNode;
  readonly line: number;
}

function drafted(file: string, services: readonly Service[]): readonly Draft[] {
  const needs = needsOf(services);
  const jobs = new Set(
    [...needs.values()].flatMap((of) => [...of].filter(([, need]) => need === 'completed').map(([name]) => name)),
  );
  return services.map(({ name, value }) => ({
    name,
    command: { compose: { file, service: name } },
    needs: Object.fromEntries(needs.get(name) ?? []),
    isJob: jobs.has(name),
    why: [`${file}: ${name}${imageOf(value)}`],
  }));
}

/** Who needs whom, among these. What would close a circle is left out: such a file is Compose's to refuse. */
function needsOf(services: readonly Service[]): ReadonlyMap<string, ReadonlyMap<string, Need>> {
  const needs = new Map(services.map(({ name }) => [name, new Map<string, Need>()]));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return [...(needs.get(from)?.keys() ?? [])].some((next) => reaches(next, to, seen));
  };
  for (const { name, value } of services) {
    for (const [other, need] of dependenciesOf(value)) {
      if (needs.has(other) && !reaches(other, name)) needs.get(name)?.set(other, need);
    }
  }
  return needs;
}

/** A list of names, or a map with a condition each. */
function dependenciesOf(service: TreeNode): readonly (readonly [string, Need])[] {
  const node = child(service, 'depends_on');
  if (node?.kind === 'list') return node.items.map((item) => [textOf(item), 'started']);
  if (node?.kind !== 'map') return [];
  return [...node.entries].map(([name, { value }]) => [name, NEEDS[textOf(child(value, 'condition'))] ?? 'started']);
}

const child = (node: TreeNode, key: string): TreeNode | undefined =>
  node.kind === 'map' ? node.entries.get(key)?.value : undefined;

const textOf = (node: TreeNode | undefined): string => (node?.kind === 'scalar' ? node.source : '');

/** Compose itself starts those only when they are asked for. */
function hasProfiles(service: TreeNode): boolean {
  const profiles = child(service, 'profiles');
  return profiles?.kind === 'list' && profiles.items.length > 0;
}

function imageOf(service: TreeNode): string {
  const image = textOf(child(service, 'image'));
  return image === '' ? '' : ` (${printable(shorten(image))})`;
}

const leftOut = (names: readonly string[]): readonly string[] =>
  names.length === 0
    ? []
    : [
        `Services that were left out, because of their profiles or names: ${inWords(names.slice(0, MAX_SHOWN).map(quoted))}.`,
      ];

function mention(file: string, services: readonly Service[], kept: readonly string[]): readonly string[] {
  const shown = services.slice(0, MAX_SHOWN);
  const [first] = kept;
  return [
    `${file} has services, which Keepwell can keep as well:`,
    ...shown.map(({ name, value }) => `  ${printable(shorten(name))}${imageOf(value)}`),
    ...(services.length > shown.length ? [`  and ${services.length - shown.length} more`] : []),
    ...(first === undefined
      ? []
      : [
          'To have one of them started, watched and restarted, write among the components:',
          `  ${flowText(nameFrom(first))}:`,
          `    ${composeText({ file, service: first })}`,
        ]),
  ];
}

export const composeText = ({ file, service }: { readonly file: string; readonly service: string }): string =>
  `compose: { file: ${flowText(file)}, service: ${flowText(service)} }`;
