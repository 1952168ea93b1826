/**
 * The types of a configuration object for programs, written from the JSON Schema: what the loader takes, a program may write down, and
 * the other way round.
 */

/** Parts of the schema that have a name of their own: by definition, or by the way to them from the root. */
const NAMES = {
  '#/$defs/component': 'ComponentConfig',
  '#/$defs/component/process': 'ProcessConfig',
  '#/$defs/component/container': 'ContainerConfig',
  '#/$defs/component/compose': 'ComposeConfig',
  '#/$defs/component/external': 'ExternalConfig',
  '#/$defs/component/startup': 'StartupConfig',
  '#/$defs/component/liveness': 'LivenessConfig',
  '#/$defs/component/readiness': 'ReadinessConfig',
  '#/$defs/component/heartbeat': 'HeartbeatConfig',
  '#/$defs/component/restart': 'RestartConfig',
  '#/$defs/component/logs': 'LogsConfig',
  '#/$defs/container-healthcheck': 'HealthcheckConfig',
  '#/$defs/question': 'QuestionConfig',
  '#/$defs/liveness-question': 'LivenessQuestionConfig',
  '#/$defs/probe-exec': 'ExecConfig',
  '#/$defs/probe-http': 'HttpConfig',
  '#/$defs/probe-tcp': 'TcpConfig',
  '#/$defs/probe-grpc': 'GrpcConfig',
  '#/$defs/probe-temporal': 'TemporalConfig',
  '#/$defs/check': 'CheckConfig',
  '#/$defs/check-question': 'CheckQuestionConfig',
  '#/sessions': 'SessionsConfig',
  '#/$defs/session-template': 'SessionTemplateConfig',
  '#/agents': 'AgentsConfig',
  '#/$defs/agent-type': 'AgentTypeConfig',
  '#/alerts': 'AlertsConfig',
  '#/alerts/channels/[]': 'AlertChannelConfig',
  '#/store': 'StoreConfig',
  '#/dashboard': 'DashboardConfig',
  '#/tickets': 'TicketsConfig',
  '#/tickets/priorities/*': 'TicketPriority',
  '#/$defs/tracker': 'TrackerConfig',
};

/** A longer list of words (signals) would be in the way of whoever has them in a variable. */
const MAX_WORDS = 6;
const VARIABLE = '\\$\\{';

const quoted = (value) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));
const indented = (text) => text.replaceAll('\n', '\n  ');
const comment = (text) => (text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '');

/** A string by what it must look like. */
function stringType({ pattern = '', enum: words, anyOf = [] }) {
  const inner = anyOf.find((each) => each.pattern !== VARIABLE);
  if (inner) return stringType(inner);
  if (words) return words.length > MAX_WORDS ? 'string' : words.map(quoted).join(' | ');
  if (pattern.includes('(\\d+)ms)?$')) return pattern.startsWith('^never$') ? "Duration | 'never'" : 'Duration';
  return /\(B\|KB\|/.test(pattern) ? 'Size' : 'string';
}

export function configTypes(schema) {
  const named = new Map();
  /** The lines of each object that was written. */
  const keys = new Map();

  function object(node, way) {
    const { properties = {}, required = [], additionalProperties: rest } = node;
    const lines = Object.entries(properties).map(([key, value]) => {
      const text = comment(value.description ?? '');
      return indented(`\n${text}readonly ${key}${required.includes(key) ? '' : '?'}: ${type(value, `${way}/${key}`)};`);
    });
    if (lines.length > 0) {
      const body = `{${lines.join('')}\n}`;
      keys.set(body, lines);
      return body;
    }
    return rest ? `Readonly<Record<string, ${type(rest, `${way}/*`)}>>` : 'Readonly<Record<string, never>>';
  }

  function plain(node, way) {
    if (node.$ref) return type(lookUp(node.$ref), node.$ref);
    if (node.const !== undefined) return quoted(node.const);
    const { type: kind, anyOf, oneOf } = node;
    if (kind === 'string') return stringType(node);
    if (kind === 'object') return object(node, way);
    if (kind === 'array') {
      const item = type(node.items, `${way}/[]`);
      return item.includes(' | ') ? `readonly (${item})[]` : `readonly ${item}[]`;
    }
    if (kind === 'boolean') return 'boolean';
    if (kind === 'integer' || kind === 'number') return 'number';
    const choices = (anyOf ?? oneOf ?? []).filter(({ pattern }) => pattern !== VARIABLE);
    if (choices.length === 0) throw new Error(`${way}: no type can be made of ${JSON.stringify(node)}`);
    return [...new Set(choices.map((each, at) => type(each, `${way}/${at}`)))].join(' | ');
  }

  function type(node, way) {
    const name = NAMES[way];
    if (!name) return plain(node, way);
    if (!named.has(name)) {
      named.set(name, null); // in its place, also when it names itself
      named.set(name, { about: node.description, body: plain(node, way) });
    }
    return name;
  }

  const lookUp = (ref) => schema.$defs[ref.slice('#/$defs/'.length)];
  const whole = object(schema, '#');
  const unused = Object.values(NAMES).filter((name) => !named.has(name));
  if (unused.length > 0) throw new Error(`no longer in the configuration: ${unused.join(', ')}`);
  const keysOf = ({ body }) => (body.startsWith('{\n') && body.endsWith('\n}') ? keys.get(body) : []);
  /** What has all the keys of another one extends it, so that each shape stands once. */
  const baseOf = (name, mine) =>
    [...named]
      .map(([other, shape]) => ({ other, theirs: keysOf(shape) }))
      .filter(({ other, theirs }) => other !== name && theirs.length > 1 && theirs.length < mine.length)
      .filter(({ theirs }) => theirs.every((key) => mine.includes(key)))
      .sort((a, b) => b.theirs.length - a.theirs.length)[0];
  const declared = [...named].map(([name, shape]) => {
    const mine = keysOf(shape);
    if (mine.length === 0) return `${comment(shape.about)}export type ${name} = ${shape.body};`;
    const base = baseOf(name, mine);
    const own = mine.filter((key) => !base?.theirs.includes(key));
    return `${comment(shape.about)}export interface ${name} ${base ? `extends ${base.other} ` : ''}{${own.join('')}\n}`;
  });
  /** `from`: files beside it and the names in each. */
  const file = (about, parts, from = {}) => {
    const text = parts.join('\n\n');
    const imports = Object.entries(from)
      .map(([path, names]) => [path, names.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).sort()])
      .filter(([, names]) => names.length > 0)
      .map(([path, names]) => `import type { ${names.join(', ')} } from '${path}';\n`);
    // A line comment: pages take a block comment for one about the first type.
    return `// ${about} Written from the schema by scripts/reference.mjs: run "npm run reference".\n${imports.join('')}\n${text}\n`;
  };
  const names = [...named.keys()];
  const first = names.indexOf('SessionsConfig');
  const ofComponents = [...names.slice(0, first), 'Duration', 'Size'];
  const components = { './config-components.ts': ofComponents };
  const features = { './config-features.ts': names.slice(first) };
  const root = `/** The keys of \`keepwell.yaml\` (docs/reference/config.md). An object is checked like a file. */
export interface KeepwellConfig ${whole}`;
  return {
    'config-components.ts': file('Components and checks of a configuration object.', [
      ...declared.slice(0, first),
      '/** One of the questions, and when it is asked. */\nexport type ProbeConfig = StartupConfig | LivenessConfig | ReadinessConfig;',
      '/** "500ms", "10s", "1m30s" */\nexport type Duration = string;',
      '/** "512MiB", "50MB" */\nexport type Size = string;',
    ]),
    'config-features.ts': file('All but the components of a configuration object.', declared.slice(first), components),
    'config-input.ts': file('A configuration as an object.', [root], { ...components, ...features }),
  };
}
