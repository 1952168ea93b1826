/** Passes when a component runs, is healthy and ready. */

import { componentName } from '../../base/pure/ids.ts';
import { name, optional } from '../../config/leaves.ts';
import { otherNames, quoted } from '../../config/text.ts';
import { textOr } from '../../config/words/argv.ts';
import type { CheckKind } from '../kind.ts';
import { failed, judgeComponent } from '../rules/results.ts';

const schema = optional(name, {
  description: 'This component runs, is healthy and ready.',
  defaultNote: 'none',
  example: 'api',
});

const anyText = textOr('api');

export const componentKind = {
  schema,
  missing: {},
  words: { process: anyText, service: anyText },
  check: (component, path, say, components) => {
    if (components.includes(component)) return;
    say(path, `there is no component ${quoted(component)}`, otherNames(component, components, 'components'));
  },
  resolve: (component) => ({ kind: 'component', component: componentName(component) }),
  isPutToTheEngine: () => false,
  ask: async ({ component }, { components }) => {
    const view = (await components()).find(({ name }) => name === component);
    return view ? judgeComponent(view) : failed(`nothing is known about a component ${component}`);
  },
} satisfies CheckKind<'component', typeof schema>;
