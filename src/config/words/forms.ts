/** Values that have the right key and the shape another tool gives it, and the form to paste instead. */
import { CHECK_KINDS } from '../../checks/kinds.ts';
import { CHANNEL_KINDS } from '../../incidents/alerts/kinds.ts';
import { TRACKER_KINDS } from '../../incidents/tickets/kinds.ts';
import { PROBE_KINDS } from '../../probes/kinds.ts';
import { perKind } from '../kind.ts';
import { refuse } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import type { MapNode, Mistake, ScalarNode, TreeNode } from '../tree.ts';
import { commandText, type Form, flowText, generalPlace } from './argv.ts';
import { asArgv } from './container-words.ts';
import { CHECK_FORMS, FEATURE_FORMS } from './feature-words.ts';
import { PROBE_FORMS } from './probe-forms.ts';
import { FOREIGN_CONDITIONS, FOREIGN_POLICIES } from './vocabulary.ts';

// Keys of a container with the right name and the shape another tool gives them, and the form to paste instead.

const isPlainText = (node: TreeNode) => node.kind === 'scalar' && node.value !== null;

/** Docker splits a text, or gives it to a shell, depending on where it stands. Here it is always a list. */
const argv =
  (key: string): Form =>
  (node) =>
    isPlainText(node) ? refuse(`${key} is a list of texts, not one text`, `Write: ${key}: ${asArgv(node)}`) : null;

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
  isPlainText(node) || node.kind === 'list'
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

const isText = (node: TreeNode | undefined): node is ScalarNode => node?.kind === 'scalar' && node.value !== null;
const texts = (node: TreeNode): readonly string[] =>
  node.kind === 'list' ? node.items.filter(isText).map(({ source }) => source) : isText(node) ? [node.source] : [];
const lookUp = (table: Readonly<Record<string, string>>, word: string): string | null =>
  Object.hasOwn(table, word) ? table[word]! : null;

/** `restart: always`, `restart: "no"`, `restart: on-failure:5`, `restart: true`. */
const restart: Form = (node) => {
  if (!isText(node)) return null;
  const [word = '', tries] = node.source.toLowerCase().split(':');
  const policy = lookUp(FOREIGN_POLICIES, word) ?? (/^(?:always|on-failure|never)$/.test(word) ? word : 'always');
  const limit = tries && /^\d{1,6}$/.test(tries) ? `, limit: { max: ${tries} }` : '';
  return refuse('must be a map, not a single value', `Write: restart: { policy: ${policy}${limit} }`);
};

/** A list says who is needed but not what for, and "started" is rarely what people want. */
const dependsOn: Form = (node) => {
  const names = texts(node).slice(0, 20);
  if (node.kind !== 'list' && !isText(node)) return null;
  const pairs = (names.length > 0 ? names : ['other']).map((name) => `${flowText(name)}: started`).join(', ');
  return refuse(
    `must be a map of names and conditions, not a ${node.kind === 'list' ? 'list' : 'single value'}`,
    `Write: depends_on: { ${printable(pairs)} }   (started, ready or completed)`,
  );
};

/** Compose: `redis: { condition: service_healthy }`. */
const condition: Form = (node) => {
  if (node.kind !== 'map') return null;
  const given = node.entries.get('condition')?.value;
  const word = given?.kind === 'scalar' ? given.source : '';
  return refuse(
    'must be started, ready or completed, not a map',
    `Write ${lookUp(FOREIGN_CONDITIONS, word) ?? 'started'}.`,
  );
};

/** Compose: `environment: ["A=b"]`. */
const env: Form = (node) => {
  if (node.kind !== 'list') return null;
  const pairs = texts(node)
    .slice(0, 20)
    .map((text) => {
      const at = text.indexOf('=');
      return at > 0
        ? `${flowText(text.slice(0, at))}: ${JSON.stringify(text.slice(at + 1))}`
        : `${flowText(text)}: "\${${text}}"`;
    });
  return refuse(
    'must be a map of names and values, not a list',
    `Write: env: { ${printable(pairs.join(', ')) || 'NAME: "value"'} }`,
  );
};

/** Procfile: `web: npm start`. */
const component: Form = (node) =>
  node.kind === 'list' || isText(node)
    ? refuse('a component is a map, not a bare command', `Write: { process: { command: ${commandText(node)} } }`)
    : null;

const process: Form = (node) =>
  node.kind === 'list' || isText(node)
    ? refuse('must be a map, not a bare command', `Write: process: { command: ${commandText(node)} }`)
    : null;

/** PM2 and others: a list whose entries carry a name. */
const components: Form = (node) => {
  if (node.kind !== 'list') return null;
  const maps = node.items.filter((item): item is MapNode => item.kind === 'map');
  const name = maps.map((item) => item.entries.get('name')?.value).find(isText)?.source ?? 'api';
  return refuse(
    'must be a map from name to component, not a list',
    `Write: components: { ${flowText(shorten(name))}: { process: … } }`,
  );
};

const single =
  (key: string, form: (written: string) => string): Form =>
  (node) =>
    isText(node)
      ? refuse('must be a map, not a single value', `Write: ${key}: ${form(printable(shorten(node.source)))}`)
      : null;

const neverOn: Form = (node) =>
  isText(node)
    ? refuse('must be a list, not a single value', `Write: never_on: [${printable(shorten(node.source))}]`)
    : null;

/** `limit: 5`, `limit: 10m`, and words for "as often as it takes", which is the largest number. */
const limit = single('limit', (text) => {
  if (/^\d{1,6}$/.test(text)) return `{ max: ${text} }`;
  return /^\d+(?:ms|s|m|h|d)$/.test(text) ? `{ max: 10, within: ${text} }` : '{ max: 1000000 }';
});

const heartbeat = single('heartbeat', (text) =>
  /^\d/.test(text)
    ? `{ log_every: ${text} }`
    : /^(?:ping|true|yes)$/i.test(text)
      ? '{ ping: true }'
      : `{ file: ${text} }`,
);

const FORMS: Readonly<Record<string, Form>> = {
  ...PROBE_FORMS,
  ...CHECK_FORMS,
  components,
  'components.*': component,
  'components.*.process': process,
  'components.*.process.env': env,
  'components.*.container.env': env,
  ...CONTAINER_FORMS,
  'components.*.depends_on': dependsOn,
  'components.*.depends_on.*': condition,
  'components.*.stop': single('stop', (text) => (/^\d/.test(text) ? `{ grace: ${text} }` : `{ signal: ${text} }`)),
  'components.*.heartbeat': heartbeat,
  'agents.types.*.heartbeat': heartbeat,
  'agents.types.*.never_on': neverOn,
  'components.*.restart': restart,
  'components.*.restart.backoff': single('backoff', (text) => `{ initial: ${text} }`),
  'components.*.restart.limit': limit,
  'components.*.restart.never_on': neverOn,
  'tickets.rate_limit': single('rate_limit', (text) => `{ per: ${text} }`),
  ...FEATURE_FORMS,
};

export const wrongForm = (place: string, node: TreeNode): Mistake | null => FORMS[generalPlace(place)]?.(node) ?? null;

/** What to say when a required key is not there. */
const MISSING: Readonly<Record<string, Mistake>> = {
  ...perKind(PROBE_KINDS, 'PROBE', ({ missing }) => missing),
  ...perKind(CHECK_KINDS, 'PROBE', ({ missing }) => missing),
  ...perKind(CHANNEL_KINDS, 'alerts.channels.*', ({ missing }) => missing),
  ...perKind(TRACKER_KINDS, 'tickets.trackers.*', ({ missing }) => missing),
  components: refuse('there are no components', 'Write: components: { api: { process: { command: [./bin/server] } } }'),
  'components.*.process.command': refuse('the command is missing', 'Write: command: [./bin/server, --port, "7234"]'),
  'sessions.templates': refuse(
    'there are no templates',
    'Write: templates: { web-easy: { image: name:tag, port: 8080 } }',
  ),
  'agents.types': refuse(
    'it is not said which agents',
    'Write: types: { architect: { command: [python, -m, agents.architect, --task, "{task}"] } }',
  ),
  'agents.types.*.command': refuse(
    'the command is missing',
    'Write: command: [python, -m, agents.architect, --task, "{task}"]',
  ),
  'agents.state_file.path': refuse('the path is missing', 'Write: path: data/agent_state.json'),
  'alerts.channels': refuse('it is not said where alerts go', `Write: channels: [{ slack: { url: "\${SLACK_URL}" } }]`),
  ...{
    'alerts.quiet_hours.from': refuse('it is not said when they begin', 'Write: { from: "22:00", to: "07:00" }'),
    'alerts.quiet_hours.to': refuse('it is not said when they end', 'Write: { from: "22:00", to: "07:00" }'),
  },
  'sessions.templates.*.image': refuse('the image is missing', 'Write: image: name:tag'),
  'components.*.container.image': refuse('the image is missing', 'Write: image: name:tag'),
  'components.*.container.healthcheck.command': refuse(
    'the command is missing',
    'Write: command: [wget, -qO-, "http://localhost:9000/healthz"]',
  ),
  'CAMPAIGN.campaign': refuse('the campaign has no name', 'Write: campaign: night-run'),
  'CAMPAIGN.experiments': refuse(
    'there are no experiments',
    'Write: experiments: [{ name: first, service: pytorch, config: configs/a.yaml }]',
  ),
  'CAMPAIGN.artifacts.*.from': refuse('it is not said what to copy', 'Write: from: /app/results'),
  'CAMPAIGN.artifacts.*.to': refuse('it is not said where to', 'Write: to: results/{name}'),
};

export const missing = (place: string, key: string): Mistake =>
  MISSING[generalPlace(place)] ?? refuse(`${quoted(key)} is missing`, null);
