/** Lists of containers and networks: one call for hundreds of them. */
import type { ContainerSummary, Listing, NetworkSummary } from './ports.ts';
import { type Caller, isUnreachable, odd, unreachable } from './caller.ts';
import { withoutSlash } from './container.ts';
import { NOT_AN_ENGINE } from './action.ts';
import { healthOfSummary } from './health.ts';
import { type Fields, fieldsOf, listOf, parseJson, textOf, textsOf } from './json.ts';

/** A container is about 1 KiB of it, with many labels several. */
const MAX_LIST_BYTES = 2 ** 25;

export function listContainers(
  caller: Caller,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<Listing<ContainerSummary>> {
  return list(caller, `/containers/json?all=1${byLabels(labels, '&')}`, readContainer, signal);
}

export function listNetworks(
  caller: Caller,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<Listing<NetworkSummary>> {
  return list(caller, `/networks${byLabels(labels, '?')}`, readNetwork, signal);
}

/** The names of all containers; empty when the Engine cannot be asked. */
export async function names(caller: Caller, signal: AbortSignal): Promise<readonly string[]> {
  const listing = await listContainers(caller, [], signal);
  return listing.kind === 'listed' ? listing.items.flatMap((container) => container.names) : [];
}

const byLabels = (labels: readonly string[], sign: string): string =>
  labels.length === 0 ? '' : `${sign}filters=${encodeURIComponent(JSON.stringify({ label: labels }))}`;

async function list<T>(
  caller: Caller,
  path: string,
  read: (row: Fields) => T | null,
  signal: AbortSignal,
): Promise<Listing<T>> {
  const answer = await caller({ path, maxBytes: MAX_LIST_BYTES }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status !== 200) return odd(answer);
  const rows = parseJson(answer.body);
  if (!Array.isArray(rows)) return unreachable(NOT_AN_ENGINE);
  const items = rows.map((row) => read(fieldsOf(row) ?? {}));
  return items.includes(null) ? unreachable(NOT_AN_ENGINE) : { kind: 'listed', items: items as T[] };
}

function readContainer(row: Fields): ContainerSummary | null {
  const { Id: id, State: status, Created } = row;
  if (typeof id !== 'string' || typeof status !== 'string') return null;
  return {
    id,
    names: listOf(row['Names'])
      .map((name) => withoutSlash(textOf(name)))
      .filter((name) => name !== '' && !name.includes('/')), // a link's name for another container
    image: textOf(row['Image']),
    imageId: textOf(row['ImageID']),
    labels: textsOf(row['Labels']),
    status,
    text: textOf(row['Status']),
    health: healthOfSummary(row),
    createdAt: typeof Created === 'number' ? Created * 1_000 : 0,
  };
}

function readNetwork(row: Fields): NetworkSummary | null {
  const { Id: id, Name: name } = row;
  if (typeof id !== 'string' || typeof name !== 'string') return null;
  const createdAt = Date.parse(textOf(row['Created']));
  return { id, name, createdAt: Number.isNaN(createdAt) ? null : createdAt, labels: textsOf(row['Labels']) };
}
