import type { Findings } from '../../src/core/freeze/freeze.ts';
import type { Ear, Ears, Hearing } from '../../src/ports/ears.ts';

/** Hears what a test says. A beat is heard once, by whoever listens next. */
export class FakeEars implements Ears {
  /** What a look into its processes finds. */
  findings: Findings = { busy: null, stopped: null, evidence: ['it waits'] };
  /** Marks that ears were opened with. */
  readonly opened: (string | null)[] = [];
  deaf: string | null = null;
  /** What the file holds. */
  mark: string | null = null;

  open(_source: unknown, _target: unknown, known: string | null): Ear {
    this.opened.push(known);
    let heard = known;
    const listen = async (): Promise<Hearing> => {
      if (this.deaf !== null) return { kind: 'deaf', note: this.deaf };
      if (this.mark === heard || this.mark === null) return { kind: 'silence', mark: heard, note: null };
      heard = this.mark;
      return { kind: 'beat', mark: this.mark, ageMs: null };
    };
    return { listen, [Symbol.dispose]: () => {} };
  }
}
