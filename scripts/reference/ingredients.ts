/** What the generated pages are made of. */
export { z } from 'zod';
export { ROUTES } from '../../src/api/table.ts';
export { ERRORS } from '../../src/base/pure/errors.ts';
export { describeCampaign } from '../../src/config/campaign-shape.ts';
export { describeConfig } from '../../src/config/describe.ts';
export { jsonSchema } from '../../src/config/schema.ts';
export { VERSION } from '../../src/version.ts';
export { ROOMS } from '../../test/support/rooms.ts';
export { EXAMPLES } from './openapi-examples.ts';
