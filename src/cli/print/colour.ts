/** Colours, where somebody can see them: on a terminal, unless NO_COLOR or --no-color says otherwise. */
import picocolors from 'picocolors';
import type { ComponentView } from '../../supervision/rules/views.ts';

export type Paint = ReturnType<typeof picocolors.createColors>;
export type Brush = (text: string) => string;

type Environment = Readonly<Record<string, string | undefined>>;

export function paintFor({ isTty }: { readonly isTty: boolean }, env: Environment, wanted: boolean): Paint {
  const forced = (env['FORCE_COLOR'] ?? '') !== '' && env['FORCE_COLOR'] !== '0';
  const refused = !wanted || (env['NO_COLOR'] ?? '') !== '';
  return picocolors.createColors(!refused && (forced || (isTty && env['TERM'] !== 'dumb')));
}

export const noPaint: Paint = picocolors.createColors(false);

export function stateBrush(paint: Paint, state: ComponentView['state']): Brush {
  switch (state) {
    case 'running':
    case 'completed':
      return paint.green;
    case 'gave-up':
      return paint.red;
    case 'stopped':
      return paint.dim;
    default:
      return paint.yellow;
  }
}

export function healthBrush(paint: Paint, health: ComponentView['health']): Brush {
  if (health === 'healthy') return paint.green;
  return health === 'unhealthy' ? paint.red : paint.dim;
}
