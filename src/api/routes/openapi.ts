/** The description of the API, served by the API. */
import { openApi } from '../openapi.ts';
import { type Route, route } from '../route.ts';
import { NO_BODY, NO_QUERY } from '../schemas.ts';
import { DOCUMENT } from '../views/daemon.ts';

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
