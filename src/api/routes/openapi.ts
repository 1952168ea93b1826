/** The description of the API, served by the API. */

import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../base/pure/errors.ts';
import { type Route, route } from '../route.ts';
import { NO_BODY, NO_QUERY } from '../schemas.ts';
import { DOCUMENT, ERROR } from '../views/daemon.ts';
import { NAMED } from '../views/view.ts';

/** `routes` is asked later, since the table it stands for contains this route too. */
export const documentRoute = (routes: () => readonly Route[]): Route => {
  let made: Readonly<Record<string, unknown>> | null = null;
  return route({
    method: 'GET',
    path: '/openapi.json',
    id: 'getOpenApi',
    summary: 'This document: OpenAPI 3.1.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: DOCUMENT,
    errors: [],
    handler: ({ services }) => {
      made ??= openApi(routes(), services.version);
      return made;
    },
  });
};

// The OpenAPI 3.1 document, made from the table of routes and the very schemas that check requests.

type Json = Readonly<Record<string, unknown>>;

const DESCRIPTION =
  'HTTP over the unix socket of a project (`.keepwell/keepwell.sock`). Every answer is one JSON object, except for the streams and the metrics. ' +
  'The API acts only on what the configuration names: no route takes a command to run.';

/** What any request can be refused with, and what a request with a body can besides. */
const ALWAYS: readonly ErrorCode[] = ['REQUEST_INVALID', 'REQUEST_REFUSED', 'DAEMON_BUSY', 'INTERNAL'];
const WITH_BODY: readonly ErrorCode[] = ['BODY_NOT_JSON', 'BODY_TOO_LARGE'];

const PATH_PARAMETERS: Readonly<Record<string, Json>> = {
  name: { description: 'The name of a component.', schema: { type: 'string' }, example: 'api' },
  id: { description: 'The number of a crash.', schema: { type: 'integer', minimum: 0 }, example: 1 },
  number: { description: 'The number of a ticket: BUG-003, bug-3 or 3.', schema: { type: 'string' } },
};
/** By the beginning of the path, where the same word stands for something else. */
const PATH_PARAMETERS_BELOW: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  '/v1/sessions/': {
    id: { description: 'The id of a session, or a beginning of it.', schema: { type: 'string' }, example: '5f0c6d1e' },
  },
  '/v1/campaigns/': {
    name: { description: 'The name of a campaign.', schema: { type: 'string' }, example: 'night-run' },
  },
};

export function openApi(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const each of routes) {
    paths[each.path] ??= {};
    paths[each.path]![each.method.toLowerCase()] = operation(each);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Keepwell', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: 'http://localhost', description: 'Over the unix socket.' }],
    paths,
    components: { schemas: namedSchemas() },
  };
}

function operation(route: Route): Json {
  const body = route.method === 'POST' ? { requestBody: requestBody(route.body) } : {};
  return {
    operationId: route.id,
    summary: route.summary,
    parameters: [...pathParameters(route.path), ...queryParameters(route.query)],
    ...body,
    responses: { ...goodAnswers(route), ...refusals(route) },
  };
}

function pathParameters(path: string): readonly Json[] {
  const [, special = {}] = Object.entries(PATH_PARAMETERS_BELOW).find(([below]) => path.startsWith(below)) ?? [];
  const described = { ...PATH_PARAMETERS, ...special };
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    ...described[name!],
  }));
}

function queryParameters(query: z.ZodType): readonly Json[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const { description, ...schema } = jsonSchema(field);
    return { name, in: 'query', required: !field.safeParse(undefined).success, description, schema };
  });
}

const requestBody = (body: z.ZodType): Json => ({
  required: true,
  content: { 'application/json': { schema: jsonSchema(body) } },
});

function goodAnswers({ success, answer, also = {}, stream, text, summary }: Route): Json {
  if (text !== undefined)
    return { [success]: { description: summary, content: { [text]: { schema: jsonSchema(answer) } } } };
  const json = { 'application/json': { schema: reference(answer) } };
  return {
    [success]: { description: summary, content: { ...json, ...(stream ? eventStream(stream) : {}) } },
    ...Object.fromEntries(
      Object.entries(also).map(([status, description]) => [status, { description, content: json }]),
    ),
  };
}

/** OpenAPI 3.1 has no word for "one of these after the other", so what an event carries stands in an extension. */
const eventStream = ({ item, when }: NonNullable<Route['stream']>): Json => ({
  'text/event-stream': { schema: { type: 'string', description: when }, 'x-data-schema': reference(item) },
});

/** One response per status, with the codes that come with it. */
function refusals({ method, errors, also = {} }: Route): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...errors, ...ALWAYS, ...(method === 'POST' ? WITH_BODY : [])]) {
    const { httpStatus } = ERRORS[code];
    byStatus.set(httpStatus, [...(byStatus.get(httpStatus) ?? []), code]);
  }
  const given = [...byStatus].filter(([status]) => !(status in also));
  return Object.fromEntries(
    given.map(([status, codes]) => [
      status,
      { description: codes.join(', '), content: { 'application/json': { schema: reference(ERROR) } } },
    ]),
  );
}

const place = (id: string): string => `#/components/schemas/${id}`;

function reference(schema: z.ZodType): Json {
  const id = NAMED.get(schema)?.id;
  return id === undefined ? jsonSchema(schema) : { $ref: place(id) };
}

function namedSchemas(): Json {
  const { schemas } = z.toJSONSchema(NAMED, { ...OPTIONS, uri: place });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema as Json]),
  );
}

function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, OPTIONS);
  return rest;
}

const OPTIONS = {
  target: 'draft-2020-12',
  io: 'input',
  unrepresentable: 'any',
  override: ({ jsonSchema: out }: { jsonSchema: Record<string, unknown> }) => simplify(out),
} as const;

/** Clients must not refuse fields that are added later, and nobody is helped by the limits of JavaScript's numbers. */
function simplify(out: Record<string, unknown>): void {
  const { documented } = out as { documented?: Json };
  if (documented) {
    for (const key of ['documented', 'type', 'pattern', 'format', 'enum', 'anyOf', 'maxLength', 'minLength'])
      delete out[key];
    Object.assign(out, documented);
  }
  if (out['additionalProperties'] === false) delete out['additionalProperties'];
  if (out['format'] === 'date-time') delete out['pattern'];
  if (out['minimum'] === Number.MIN_SAFE_INTEGER) delete out['minimum'];
  if (out['maximum'] === Number.MAX_SAFE_INTEGER) delete out['maximum'];
}
