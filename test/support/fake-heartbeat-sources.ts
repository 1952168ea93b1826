import type {
  HeartbeatSignal,
  HeartbeatSources,
  OpenHeartbeatSource,
} from '../../src/supervision/ports/heartbeat-source.ts';
import type { Findings } from '../../src/supervision/rules/freeze/freeze.ts';
import { ONLY_ECHOES } from '../../src/supervision/rules/freeze/pulse.ts';

/** Hears what a test says. A beat is heard once, by whoever listens next. */
export class FakeHeartbeatSources implements HeartbeatSources {
  /** What a look into its processes finds. */
  findings: Findings = { busy: null, stopped: null, evidence: ['it waits'] };
  /** Marks that sources were opened with. */
  readonly opened: (string | null)[] = [];
  deaf: string | null = null;
  /** What the file holds. */
  mark: string | null = null;
  /** It writes a line whenever one of our probes asks. `own`: and all the time besides. */
  lines: 'none' | 'when-asked' | 'own' = 'none';

  open(_source: unknown, _target: unknown, known: string | null): OpenHeartbeatSource {
    this.opened.push(known);
    let heard = known;
    let isAsked = false;
    let wasAsked = false;
    const listen = async (): Promise<HeartbeatSignal> => {
      if (this.deaf !== null) return { kind: 'deaf', note: this.deaf };
      const hasEcho = wasAsked && this.lines !== 'none';
      wasAsked = isAsked;
      if (hasEcho) return { kind: 'echo', mark: '', note: ONLY_ECHOES };
      if (this.lines === 'own') return { kind: 'beat', mark: '', ageMs: null };
      if (this.mark === heard || this.mark === null) return { kind: 'silence', mark: heard, note: null };
      heard = this.mark;
      return { kind: 'beat', mark: this.mark, ageMs: null };
    };
    const asked = (begins: boolean) => {
      isAsked = begins;
      wasAsked = true;
    };
    return { listen, asked, [Symbol.dispose]: () => {} };
  }
}
