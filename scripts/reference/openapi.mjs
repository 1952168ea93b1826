/**
 * The OpenAPI 3.1 document: from the table of routes, the very schemas that check requests, the types of the answers and the examples.
 */
import { viewSchemas } from './view-schemas.mjs';

const DESCRIPTION =
  'HTTP over the unix socket of a project (`.keepwell/keepwell.sock`). Every answer is one JSON object, except for the streams and the metrics. ' +
  'The API acts only on what the configuration names: no route takes a command to run.';

/** What any request can be refused with, and what a request with a body can besides. */
const ALWAYS = ['REQUEST_INVALID', 'REQUEST_REFUSED', 'DAEMON_BUSY', 'INTERNAL'];
const WITH_BODY = ['BODY_NOT_JSON', 'BODY_TOO_LARGE'];

const PATH_PARAMETERS = {
  name: { description: 'The name of a component.', schema: { type: 'string' }, example: 'api' },
  id: { description: 'The number of a crash.', schema: { type: 'integer', minimum: 0 }, example: 1 },
  number: { description: 'The number of a ticket: BUG-003, bug-3 or 3.', schema: { type: 'string' } },
};
/** By the beginning of the path, where the same word stands for something else. */
const PATH_PARAMETERS_BELOW = {
  '/v1/sessions/': {
    id: { description: 'The id of a session, or a beginning of it.', schema: { type: 'string' }, example: '5f0c6d1e' },
  },
  '/v1/campaigns/': {
    name: { description: 'The name of a campaign.', schema: { type: 'string' }, example: 'night-run' },
  },
};

const place = (name) => `#/components/schemas/${name}`;

export function openApi(root, { ROUTES, ERRORS, EXAMPLES, VERSION, z }) {
  const views = Object.fromEntries(
    Object.entries(viewSchemas(root, place)).map(([name, { schema, isNamed }]) => {
      const examples = EXAMPLES[name] === undefined ? {} : { examples: [EXAMPLES[name]] };
      return [name, { schema: { ...schema, ...examples }, isNamed }];
    }),
  );
  const reference = (name) => (views[name].isNamed ? { $ref: place(name) } : views[name].schema);
  const content = (schema) => ({ 'application/json': { schema } });
  const jsonSchema = (schema) => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, REQUESTS);
    return rest;
  };

  function operation(route) {
    const body =
      route.method === 'POST' ? { requestBody: { required: true, content: content(jsonSchema(route.body)) } } : {};
    return {
      operationId: route.id,
      summary: route.summary,
      parameters: [...pathParameters(route.path), ...queryParameters(route.query)],
      ...body,
      responses: { ...goodAnswers(route), ...refusals(route) },
    };
  }

  function pathParameters(path) {
    const [, special = {}] = Object.entries(PATH_PARAMETERS_BELOW).find(([below]) => path.startsWith(below)) ?? [];
    const known = { ...PATH_PARAMETERS, ...special };
    return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, ...known[name] }));
  }

  const queryParameters = (query) =>
    Object.entries(query.shape).map(([name, field]) => {
      const { description, ...schema } = jsonSchema(field);
      return { name, in: 'query', required: !field.safeParse(undefined).success, description, schema };
    });

  function goodAnswers({ success, answer, also = {}, stream, text, summary }) {
    if (text !== undefined)
      return { [success]: { description: summary, content: { [text]: { schema: reference(answer) } } } };
    const json = content(reference(answer));
    return {
      [success]: { description: summary, content: { ...json, ...(stream ? eventStream(stream) : {}) } },
      ...Object.fromEntries(
        Object.entries(also).map(([status, description]) => [status, { description, content: json }]),
      ),
    };
  }

  /** OpenAPI 3.1 has no word for "one of these after the other", so what an event carries stands in an extension. */
  const eventStream = ({ item, when }) => ({
    'text/event-stream': { schema: { type: 'string', description: when }, 'x-data-schema': reference(item) },
  });

  /** One response per status, with the codes that come with it. */
  function refusals({ method, errors, also = {} }) {
    const byStatus = new Map();
    for (const code of [...errors, ...ALWAYS, ...(method === 'POST' ? WITH_BODY : [])]) {
      const { httpStatus } = ERRORS[code];
      byStatus.set(httpStatus, [...(byStatus.get(httpStatus) ?? []), code]);
    }
    const given = [...byStatus].filter(([status]) => !(status in also));
    return Object.fromEntries(
      given.map(([status, codes]) => [status, { description: codes.join(', '), content: content(reference('Error')) }]),
    );
  }

  const paths = {};
  for (const each of ROUTES) paths[each.path] = { ...paths[each.path], [each.method.toLowerCase()]: operation(each) };
  const named = Object.entries(views).filter(([, { isNamed }]) => isNamed);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Keepwell',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://localhost', description: 'Over the unix socket.' }],
    paths,
    components: { schemas: Object.fromEntries(named.map(([name, { schema }]) => [name, schema])) },
  };
}

const REQUESTS = {
  target: 'draft-2020-12',
  io: 'input',
  unrepresentable: 'any',
  override: ({ jsonSchema }) => simplify(jsonSchema),
};

/** Nobody is helped by the limits of JavaScript's numbers, and what a text must look like is told in the words of its meaning. */
function simplify(out) {
  const { documented } = out;
  if (documented) {
    for (const key of ['documented', 'type', 'pattern', 'format', 'enum', 'anyOf', 'maxLength', 'minLength'])
      delete out[key];
    Object.assign(out, documented);
  }
  if (out.additionalProperties === false) delete out.additionalProperties;
  if (out.format === 'date-time') delete out.pattern;
  if (out.minimum === Number.MIN_SAFE_INTEGER) delete out.minimum;
  if (out.maximum === Number.MAX_SAFE_INTEGER) delete out.maximum;
}
