/** Whether a file is there, asked of the container's own `test`: it sees what is mounted in memory, but not every image has one. */
import type { ContainerEngine, Look } from '../../docker/ports.ts';
import { notInTime } from '../in-container.ts';

const THERE = 0;
const ABSENT = 1;

export async function lookFromWithin(
  id: string,
  path: string,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<Look> {
  const result = await engine.exec(id, ['test', '-e', path], signal);
  switch (result.kind) {
    case 'exited':
      if (result.code === THERE) return { kind: 'there' };
      if (result.code === ABSENT) return { kind: 'absent' };
      return { kind: 'unknown', why: `"test -e" ended with exit code ${result.code}` };
    case 'not-started':
      return {
        kind: 'unknown',
        why: 'it is mounted in memory, where Docker cannot look, and there is no program "test" in the container to ask',
      };
    case 'called-off': {
      const left = result.left === null ? '' : `; ${result.left}`;
      return { kind: 'unreachable', why: `${notInTime(signal)} from "test -e ${path}" in the container${left}` };
    }
    case 'unreachable':
      return result;
    default:
      throw new Error(`no such result: ${JSON.stringify(result satisfies never)}`);
  }
}
