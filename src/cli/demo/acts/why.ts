/** Act 6: the dossier of the first death. */
import type { WhyView } from '../../../supervision/rules/views.ts';
import { whyText } from '../../print/why.ts';
import type { Scene } from '../scene.ts';

export async function showWhy({ product, narrator }: Scene): Promise<void> {
  narrator.command('why mailer');
  const [why, current] = await narrator.during('"keepwell why"', () =>
    Promise.all([product.ask<WhyView>(['why', 'mailer']), product.component('mailer')]),
  );
  narrator.output(whyText(why, { current, nowMs: Date.now(), paint: narrator.paint }));
}
