/** How times and sizes are written in a configuration. */

/** "500ms", "10s", "1m30s" */
export type Duration = string;

/** "512MiB", "50MB" */
export type Size = string;
