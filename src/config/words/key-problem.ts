/** What is said about a key that does not belong where it stands. */
export interface KeyProblem {
  readonly message: string;
  readonly hint: string | null;
  /** The key of ours that was probably meant; it is not reported as missing on top. */
  readonly standsFor: string | null;
}
