/** The description of the API, served by the API. `npm run reference` writes it from the table of routes and the types of the answers. */
import { readFileSync } from 'node:fs';
import { programFile } from '../../base/program-file.ts';
import { type Route, route } from '../route.ts';

export const documentRoute: Route = route({
  method: 'GET',
  path: '/openapi.json',
  id: 'getOpenApi',
  access: 'read',
  summary: 'This document: OpenAPI 3.1.',
  answer: 'Document',
  handler: () => JSON.parse(readFileSync(programFile('openapi.json'), 'utf8')),
});
