/**
 * JSON Schemas of what the API answers, written from `interface Views` of src/api/views.ts: the types that handlers are checked against, and
 * their comments. What a type cannot say in a way this understands is an error, not a gap in the document.
 */
import { join } from 'node:path';
import { libraryProgram, ts } from './program.mjs';

const { SyntaxKind } = ts;

/** Types of src/base/pure/json.ts that say more than TypeScript can. */
const NARROWED = {
  IsoTime: { type: 'string', format: 'date-time' },
  Count: { type: 'integer', minimum: 0 },
  WholeNumber: { type: 'integer' },
  Amount: { type: 'number', minimum: 0 },
};
/** What they mean is said by their schema, except for this one. */
const TOLD = ['IsoTime'];

const KEYWORDS = new Map([
  [SyntaxKind.StringKeyword, { type: 'string' }],
  [SyntaxKind.NumberKeyword, { type: 'number' }],
  [SyntaxKind.BooleanKeyword, { type: 'boolean' }],
  [SyntaxKind.UnknownKeyword, {}],
]);

const SCHEMA_VERSION = 'Fields may be added; none changes or goes away.';

const described = (schema, description) =>
  description === undefined || description === '' ? schema : { ...schema, description };

/** By name: `{ schema, isNamed }`. Only objects get a name of their own in the document. `place`: the reference to one of them. */
export function viewSchemas(root, place) {
  const program = libraryProgram(root);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(join(root, 'src/api/views.ts'));
  const views = source.statements.find((each) => each.name?.text === 'Views');

  const declarationOf = (reference) => {
    const symbol = checker.getSymbolAtLocation(reference.typeName ?? reference.expression ?? reference.exprName);
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return target.declarations[0];
  };
  const names = new Map(
    views.members
      .filter(({ type }) => type.kind === SyntaxKind.TypeReference)
      .map(({ name, type }) => [declarationOf(type), name.text])
      .filter(([declaration]) => ts.isInterfaceDeclaration(declaration)),
  );

  const fail = (node) => {
    const { line } = ts.getLineAndCharacterOfPosition(node.getSourceFile(), node.getStart());
    throw new Error(`${node.getSourceFile().fileName}:${line + 1}: no schema can be made of ${node.getText()}`);
  };

  /** The comment of a declaration, in one line. */
  const commentOn = (node) =>
    ts
      .getTextOfJSDocComment(node.jsDoc?.at(-1)?.comment)
      ?.replace(/\s*\n\s*/g, ' ')
      .trim();

  const literals = (types) => {
    const values = types.map(({ literal }) => literal?.text);
    return values.length === 1 ? { type: 'string', const: values[0] } : { type: 'string', enum: values };
  };

  /** The types that a union is made of, in the order in which they are written. */
  function alternatives(node) {
    if (ts.isParenthesizedTypeNode(node)) return alternatives(node.type);
    if (ts.isUnionTypeNode(node)) return node.types.flatMap(alternatives);
    if (ts.isIndexedAccessTypeNode(node)) return indexed(node);
    if (!ts.isTypeReferenceNode(node) || node.typeArguments || node.typeName.text in NARROWED) return [node];
    const { type } = declarationOf(node);
    const inner = type && alternatives(type);
    return inner?.every(({ literal }) => literal) ? inner : [node];
  }

  /** `State['kind']` of a union of objects, and `(typeof WORDS)[number]` of a tuple. */
  function indexed({ objectType, indexType }) {
    const inner = ts.isParenthesizedTypeNode(objectType) ? objectType.type : objectType;
    if (ts.isTypeQueryNode(inner)) {
      const words = checker.getTypeArguments(checker.getTypeAtLocation(inner));
      return words.map(({ value }) => ({ literal: { kind: SyntaxKind.StringLiteral, text: value } }));
    }
    const declaration = declarationOf(inner);
    const shapes = declaration.members ? [declaration] : alternatives(declaration.type);
    return shapes.flatMap((shape) => {
      const { members } = shape.members ? shape : declarationOf(shape);
      return alternatives(members.find(({ name }) => name.text === indexType.literal.text).type);
    });
  }

  const isNull = ({ literal }) => literal?.kind === SyntaxKind.NullKeyword;
  const isWord = ({ literal }) => literal?.kind === SyntaxKind.StringLiteral;

  function schemaOf(node) {
    if (KEYWORDS.has(node.kind)) return KEYWORDS.get(node.kind);
    if (ts.isParenthesizedTypeNode(node) || ts.isTypeOperatorNode(node)) return schemaOf(node.type);
    if (ts.isUnionTypeNode(node)) return choiceOf(node, undefined);
    if (ts.isArrayTypeNode(node)) return { type: 'array', items: schemaOf(node.elementType) };
    if (ts.isTypeLiteralNode(node) || ts.isIntersectionTypeNode(node)) return objectOf(node);
    if (ts.isLiteralTypeNode(node) && ts.isNumericLiteral(node.literal))
      return { type: 'number', const: Number(node.literal.text) };
    if (ts.isTypeReferenceNode(node)) return referred(node);
    return fail(node);
  }

  function referred(node) {
    const name = node.typeName.text;
    if (name === 'Readonly') return schemaOf(node.typeArguments[0]);
    if (name === 'Record') {
      const [keys, values] = node.typeArguments;
      return { type: 'object', propertyNames: schemaOf(keys), additionalProperties: choiceOf(values) };
    }
    const declaration = declarationOf(node);
    if (names.has(declaration)) return { $ref: place(names.get(declaration)) };
    if (name in NARROWED) return described(NARROWED[name], TOLD.includes(name) ? commentOn(declaration) : undefined);
    if (ts.isInterfaceDeclaration(declaration)) return objectOf(declaration);
    return ts.isTypeAliasDeclaration(declaration) ? choiceOf(declaration.type) : fail(node);
  }

  /** What may stand there, null included. */
  function choiceOf(node, description = aliasComment(node)) {
    const all = alternatives(node).filter(({ kind }) => kind !== SyntaxKind.UndefinedKeyword);
    const some = all.filter((each) => !isNull(each));
    const schemas = some.length > 0 && some.every(isWord) ? [literals(some)] : some.map(schemaOf);
    const nulls = all.some(isNull) ? [{ type: 'null' }] : [];
    if (schemas.length === 1 && nulls.length === 0) return described(schemas[0], description);
    const types = [...schemas, ...nulls];
    // One keyword for values that need no more than their type.
    if (nulls.length > 0 && schemas.every((schema) => Object.keys(schema).join() === 'type'))
      return { ...described({}, description), type: types.map(({ type }) => type) };
    return described({ anyOf: types }, description);
  }

  /** What a name for a few words says about them. */
  function aliasComment(node) {
    if (!ts.isTypeReferenceNode(node) || node.typeArguments || node.typeName.text in NARROWED) return undefined;
    const declaration = declarationOf(node);
    return ts.isTypeAliasDeclaration(declaration) ? commentOn(declaration) : undefined;
  }

  /** Of an interface with all that it extends, or of several in one. `schema_version` comes first. */
  function fieldsOf(node) {
    if (ts.isTypeReferenceNode(node)) return fieldsOf(declarationOf(node));
    if (ts.isIntersectionTypeNode(node)) return node.types.flatMap(fieldsOf);
    if (!node.members) fail(node);
    const bases = (node.heritageClauses ?? []).flatMap(({ types }) =>
      types.flatMap((base) => fieldsOf(declarationOf(base))),
    );
    const fields = [...bases, ...node.members];
    const isVersion = ({ name }) => name.text === 'schema_version';
    return [...fields.filter(isVersion), ...fields.filter((field) => !isVersion(field))];
  }

  function objectOf(node) {
    const fields = fieldsOf(node);
    const properties = fields.map((field) => {
      const { name, type } = field;
      return [
        name.text,
        choiceOf(type, name.text === 'schema_version' ? SCHEMA_VERSION : commentOn(field) || undefined),
      ];
    });
    const required = fields.filter(({ questionToken }) => !questionToken).map(({ name }) => name.text);
    return { type: 'object', properties: Object.fromEntries(properties), required };
  }

  return Object.fromEntries(
    views.members.map(({ name, type }) => {
      const declaration = type.kind === SyntaxKind.TypeReference ? declarationOf(type) : null;
      if (!names.has(declaration)) return [name.text, { schema: choiceOf(type), isNamed: false }];
      return [name.text, { schema: described(objectOf(declaration), commentOn(declaration)), isNamed: true }];
    }),
  );
}
