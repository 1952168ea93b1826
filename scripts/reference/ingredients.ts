/** What the generated pages are made of. */
export { Command } from 'commander';
export { z } from 'zod';
export { ROUTES } from '../../src/api/table.ts';
export { ERRORS } from '../../src/base/pure/errors.ts';
export { addGlobalOptions } from '../../src/cli/define.ts';
export { COMMANDS } from '../../src/cli/program.ts';
export { WHICH } from '../../src/cli/program-frame.ts';
export { describeCampaign } from '../../src/config/campaign-shape.ts';
export { describeConfig } from '../../src/config/describe.ts';
export { jsonSchema } from '../../src/config/schema.ts';
export { VERSION } from '../../src/version.ts';
export { ROOMS } from '../../test/support/rooms.ts';
export { EXAMPLES } from './openapi-examples.ts';
