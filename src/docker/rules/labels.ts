/** The labels by which what we made is found again. They are the identity: a name is only for people. */
export const LABELS = {
  /** Who keeps it: the id of a project's home directory, or of an embedder. Nothing without our own is ever touched. */
  owner: 'keepwell.owner',
  project: 'keepwell.project',
  component: 'keepwell.component',
  /** The run for which it was made. */
  run: 'keepwell.run',
  /** Hash of what it was made with. */
  spec: 'keepwell.spec',
  session: 'keepwell.session',
  user: 'keepwell.user',
  template: 'keepwell.template',
  /** ISO times. The lease may have been extended since. */
  created: 'keepwell.created',
  expires: 'keepwell.expires',
} as const;
