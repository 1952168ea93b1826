/** Files and folders as they come out of a container. */
export interface ArchiveEntry {
  /** Relative, without `.` and `..`; begins with the last step of the path that was asked for. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'other';
  readonly size: number;
  readonly mode: number;
  /** When it was last written, in whole seconds of its own machine's clock. */
  readonly mtimeSeconds: number;
}

/** Nothing more is read while a promise of it is open. */
export interface ArchiveSink {
  /** A file's content follows in `data`, then `end`. */
  begin(entry: ArchiveEntry): void | Promise<void>;
  data(piece: Buffer): void | Promise<void>;
  end(): void | Promise<void>;
}
