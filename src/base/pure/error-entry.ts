/** One row of the table of errors. */
export interface ErrorEntry {
  readonly message: string;
  /** What to do, as a sentence. */
  readonly hint: string;
  readonly exitCode: number;
  readonly httpStatus: number;
}
