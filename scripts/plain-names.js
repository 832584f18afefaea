// Gives private members of classes plain names, in the files that programs are bundled from. V8 looks up a
// private name in a slower way until it compiles a function for speed, which most of a scrape is not for hours.
import ts from 'typescript';

/** The text of a module with `_name` for each `#name`; in a class that extends another, with the class's own name. */
export function withPlainNames(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.JS);
  const renamed = [];
  const taken = new Set();
  const visit = (node) => {
    if (ts.isPrivateIdentifier(node)) renamed.push({ node, name: plainName(path, node) });
    if (ts.isIdentifier(node)) taken.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  let plain = '';
  let at = 0;
  for (const { node, name } of renamed) {
    if (taken.has(name)) throw new Error(`${path} has ${name} already`);
    plain += text.slice(at, node.getStart(file)) + name;
    at = node.end;
  }
  return plain + text.slice(at);
}

function plainName(path, node) {
  const name = `_${node.text.slice(1)}`;
  if (ts.isBinaryExpression(node.parent))
    throw new Error(`${path} asks for ${node.text} with "in", which no plain name can`);
  const declaring = ts.findAncestor(node, (each) => ts.isClassLike(each) && declares(each, node));
  if (declaring.heritageClauses === undefined) return name;
  if (declaring.name === undefined)
    throw new Error(`The class of ${node.text} in ${path} extends another and has no name`);
  return `${name}_${declaring.name.text}`;
}

const declares = ({ members }, { text }) => members.some(({ name }) => name?.text === text);
