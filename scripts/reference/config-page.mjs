/** docs/reference/config.md: every key of the configuration. */
import { sections } from './keys.mjs';
import { GENERATED } from './markdown.mjs';

const INTRODUCTION = `# Configuration reference

Keepwell reads \`keepwell.yaml\` (or \`keepwell.yml\`, \`keepwell.json\`) from the working directory or the nearest folder above it, or the
files given with \`-f\`. With several files, later ones go over earlier ones: maps are merged key by key, lists and single values replace.

- **Durations** are whole numbers with a unit, largest unit first: \`500ms\`, \`10s\`, \`1m30s\`, \`1h\`, \`7d\`. A bare number is refused.
- **Variables** in values: \`\${NAME}\`, \`\${NAME:-default}\` (also when empty), \`\${NAME:?message}\` (an error when missing or empty), and \`$$\` for a
  dollar sign. They come from the environment, then from \`.env\` beside the first file. They are expanded once, inside one value, and the
  result is always text: it never becomes another argument, another key or, except for a port, a number.
- **Relative paths** start at the folder of the first file.
- **Names** consist of a-z, 0-9, dot, dash and underscore, start with a letter or digit and have at most 63 characters.
- Unknown keys, keys given twice, YAML tags, merge keys (\`<<\`), more than 100 aliases and files above 1 MB are refused. \`keepwell validate\`
  lists everything that is wrong at once; [keepwell.schema.json](keepwell.schema.json) is for editors.`;

/** The smallest file that does something, then most of the keys. */
const EXAMPLE = `\`\`\`yaml
components:
  database:
    process: { command: [./bin/database, --data, ./data] }
  migrate:
    process: { command: [./bin/migrate] }
    depends_on: { database: ready }
    restart: { policy: on-failure }
  api:
    process:
      command: [./bin/server, --port, "7234"]
      cwd: ./server
      env: { LOG_LEVEL: info }
      env_file: .env
    depends_on: { database: ready, migrate: completed }
    stop: { signal: SIGTERM, grace: 10s }
    restart:
      policy: always
      backoff: { initial: 1s, factor: 2, max: 60s, jitter: 0.1, reset_after: 10m }
      limit: { max: 10, within: 10m, retry: 15m }
      never_on: [78, SIGILL]
\`\`\``;

export function configPage(source) {
  const parts = [GENERATED, INTRODUCTION, EXAMPLE, ...sections(source.describeConfig())];
  return `${parts.join('\n\n')}\n`;
}
