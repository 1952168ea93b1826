/** The keys of a file as tables. */
import { code, table, yaml } from './markdown.mjs';

const defaultText = (row) => {
  if (row.defaultNote !== null) return row.defaultNote;
  if (row.default !== undefined) return code(yaml(row.default));
  return row.required ? '**required**' : 'see below';
};

const example = (row) => {
  if (row.example === undefined) return '';
  return code(`${row.path.slice(row.path.lastIndexOf('.') + 1)}: ${yaml(row.example)}`);
};

/** One table per map, so that nobody has to read a path of five words in every row. */
export function sections(rows) {
  const groups = new Map();
  for (const row of rows) {
    const parent = row.path.split('.').slice(0, -1).join('.');
    groups.set(parent, [...(groups.get(parent) ?? []), row]);
  }
  return [...groups].map(([parent, members]) => {
    const about = rows.find(({ path }) => path === parent.replace(/\[\]$/, ''))?.description;
    const body = members.map((row) => [
      code(row.path.slice(parent === '' ? 0 : parent.length + 1)),
      row.type,
      defaultText(row),
      row.description,
      example(row),
    ]);
    const heading = parent === '' ? '## Top level' : `## \`${parent}\``;
    return [heading, ...(about ? [about] : []), table(['Key', 'Type', 'Default', 'Meaning', 'Example'], body)].join(
      '\n\n',
    );
  });
}
