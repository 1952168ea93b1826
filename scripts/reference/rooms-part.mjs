/** The tables of the rooms and who may import whom, for the pages that show them. */
import { table } from './markdown.mjs';

const list = (names) => names.map((name) => `\`${name}\``).join(', ');

function imports({ imports, shapes = [] }) {
  const only = shapes.length > 0 ? `; only shapes of ${list(shapes)}` : '';
  return imports.length === 0 ? 'nothing' : `${list(imports)}${only}`;
}

export const roomsPart = ({ ROOMS }) =>
  table(
    ['Room', 'What is in it'],
    Object.entries(ROOMS).map(([name, room]) => [`\`src/${name}\``, room.what]),
  );

export const importsPart = ({ ROOMS }) =>
  table(
    ['Room', 'May import from'],
    Object.entries(ROOMS).map(([name, room]) => [`\`${name}\``, imports(room)]),
  );
