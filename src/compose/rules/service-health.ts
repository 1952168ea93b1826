/** How a service stands between two experiments. */
export interface ServiceHealth {
  /** `unknown`: it could not be asked; that is no verdict. */
  readonly status: 'healthy' | 'unhealthy' | 'starting' | 'none' | 'unknown';
  /** Whether the next experiment may be begun in it. */
  readonly healthy: boolean;
  /** Of one that is unknown or starting: asking again later does not help. */
  readonly isLasting?: true;
  /** A sentence for people; empty: nothing to say. */
  readonly reason: string;
  /** What could help when it is not healthy. `none`: nothing that can be done from here does (a host fault): the service is quarantined. */
  readonly remedy: 'restart' | 'recreate' | 'none';
  /** Of the fullest GPU; null: no GPU was found, or it does not say. */
  readonly gpuMemoryUsedBytes: number | null;
  readonly gpuMemoryTotalBytes: number | null;
}
