/** Keys of a container with the right name and the shape another tool gives them, and the form to paste instead. */
import { refuse } from '../readers.ts';
import { printable, shorten } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import { flowText } from './argv.ts';
import { asArgv } from './container-words.ts';
import type { Form } from './probe-forms.ts';

const isText = (node: TreeNode) => node.kind === 'scalar' && node.value !== null;

/** Docker splits a text, or gives it to a shell, depending on where it stands. Here it is always a list. */
const argv =
  (key: string): Form =>
  (node) =>
    isText(node) ? refuse(`${key} is a list of texts, not one text`, `Write: ${key}: ${asArgv(node)}`) : null;

/** Of Compose: `ports: 80`, `volumes: ./a:/b`. */
const list =
  (key: string): Form =>
  (node) =>
    node.kind === 'scalar' && node.value !== null
      ? refuse('must be a list', `Write: ${key}: [${printable(JSON.stringify(shorten(node.source)))}]`)
      : null;

/** Of Compose: `ports: [{ target: 80, published: 8080 }]`. */
const port: Form = (node) => {
  if (node.kind !== 'map') return null;
  const text = (key: string) => {
    const value = node.entries.get(key)?.value;
    return value?.kind === 'scalar' && /^\d{1,5}$/.test(value.source) ? value.source : null;
  };
  const inner = text('target') ?? text('containerPort') ?? '9000';
  const outer = text('published') ?? text('hostPort') ?? inner;
  return refuse('must be text, not a map', `Write "127.0.0.1:${outer}:${inner}".`);
};

/** Of Compose: `volumes: [{ type: bind, source: ./a, target: /b }]`. */
const volume: Form = (node) => {
  if (node.kind !== 'map') return null;
  const text = (key: string, otherwise: string) => {
    const value = node.entries.get(key)?.value;
    return value?.kind === 'scalar' ? printable(shorten(value.source)) : otherwise;
  };
  return refuse('must be text, not a map', `Write "${text('source', './data')}:${text('target', '/data')}".`);
};

/** Of Compose: `labels: ["a=b"]`. */
const labels: Form = (node) => {
  if (node.kind !== 'list') return null;
  const texts = node.items.flatMap((item) => (item.kind === 'scalar' ? [item.source] : [])).slice(0, 20);
  const pairs = texts.map((text) => {
    const [name = '', ...value] = text.split('=');
    return `${flowText(name)}: ${JSON.stringify(value.join('='))}`;
  });
  return refuse(
    'must be a map of names and values, not a list',
    `Write: labels: { ${printable(pairs.join(', ')) || 'team: "agents"'} }`,
  );
};

const container: Form = (node) =>
  isText(node) || node.kind === 'list'
    ? refuse(
        'must be a map',
        `Write: container: { image: ${node.kind === 'scalar' ? flowText(shorten(node.source)) : 'name:tag'} }`,
      )
    : null;

const PLACE = 'components.*.container';

export const CONTAINER_FORMS: Readonly<Record<string, Form>> = {
  [PLACE]: container,
  [`${PLACE}.command`]: argv('command'),
  [`${PLACE}.entrypoint`]: argv('entrypoint'),
  [`${PLACE}.healthcheck.command`]: argv('command'),
  [`${PLACE}.ports`]: list('ports'),
  [`${PLACE}.ports.*`]: port,
  [`${PLACE}.volumes`]: list('volumes'),
  [`${PLACE}.volumes.*`]: volume,
  [`${PLACE}.labels`]: labels,
};
