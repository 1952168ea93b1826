/** How far the output of each attempt has been read, and the rest of it where it came along with the news of its end. */
export interface Rest {
  readonly from: number;
  readonly bytes: Buffer;
  /** There is no more behind it. */
  readonly isAll: boolean;
}

export function createOutputs() {
  const positions = new Map<string, number>();
  const rests = new Map<string, Rest>();
  return {
    position: (key: string): number => positions.get(key) ?? 0,
    told: (key: string, position: number) => void positions.set(key, position),
    keep: (key: string, rest: Rest) => void rests.set(key, rest),
    /** Null: it has to be asked for. */
    known: (key: string, position: number): Buffer | null => {
      const rest = rests.get(key);
      if (!rest || position < rest.from) return null;
      const left = rest.bytes.subarray(position - rest.from);
      const isAll = rest.isAll && position <= rest.from + rest.bytes.length;
      return left.length > 0 || isAll ? left : null;
    },
    forget: (key: string) => {
      positions.delete(key);
      rests.delete(key);
    },
  };
}
