/**
 * What a module exports, read without running it: classes, functions and objects with the names of their parameters.
 *
 * The text is that of esbuild, which prints every source in one style: without types and comments, and with one space where one is
 * due. It promises a reading that is right for ordinary sources, and no more: what it does not recognise is left out.
 */

export interface Parameter {
  name: string;
  /** It has a default. */
  isOptional: boolean;
  /** Of an object that is taken apart. */
  fields?: Parameter[];
}

/** A function or a method. */
export interface Callable {
  kind: 'callable';
  name: string;
  parameters: Parameter[];
  body: string;
}

/** A class, an object, or a value that is made with `new`. */
export interface Members {
  kind: 'class' | 'object' | 'instance';
  name: string;
  /** Of a class that extends another, or of an instance. */
  of?: string;
  construct: Parameter[];
  members: Callable[];
}

export type Declared = Callable | Members;

/** What is exported, by the names under which it is; `default` is the one without. */
export interface Module {
  exports: ReadonlyMap<string, Declared>;
  /** Names that are exported, and of which no more is known. */
  unknown: string[];
  /** What is left of the text beside what is declared in it. */
  topLevel: string;
}

export function readModule(text: string): Module {
  const declared = declarationsIn(text);
  const byName = new Map(declared.map((one) => [one.declared.name, one.declared]));
  const named = [...esmExports(text), ...commonJsExports(text)];
  const exports = new Map<string, Declared>();
  const unknown: string[] = [];
  for (const { exported, local, value } of named) {
    const found = value ?? byName.get(local) ?? aliasOf(text, local, byName);
    if (found) exports.set(exported, found);
    else unknown.push(exported);
  }
  let topLevel = text;
  for (const { from, to } of [...declared].reverse()) topLevel = topLevel.slice(0, from) + topLevel.slice(to);
  return { exports, unknown, topLevel };
}

/** What a piece of code declares at its outermost level. */
export function declaredIn(text: string): Declared[] {
  return declarationsIn(text).map(({ declared }) => declared);
}

interface Found {
  declared: Declared;
  from: number;
  to: number;
}

/** A name that is followed by what makes it a declaration. */
const HEAD =
  /\bclass (?<class>[\w$]+)(?: extends (?<base>[\w$.]+))?[^{]*\{|\b(?<object>[\w$]+) = \{|\b(?<instance>[\w$]+) = (?:await )?new (?<of>[\w$.]+)\(|(?<assigned>[\w$]+)(?: =|:) (?:async )?(?:function\*? ?[\w$]*)?(?=\(|[\w$]+ =>)|(?<plain>[\w$]+)(?=\()/g;

const NO_NAMES = new Set(['if', 'for', 'while', 'switch', 'catch', 'function', 'return', 'super', 'import', 'require']);

/** Those of the outermost level, in their order. */
function declarationsIn(text: string): Found[] {
  const found: Found[] = [];
  const head = new RegExp(HEAD);
  for (let match = head.exec(text); match !== null; match = head.exec(text)) {
    const one = declarationAt(text, match);
    if (!one) continue;
    found.push(one);
    head.lastIndex = one.to;
  }
  return found;
}

function declarationAt(text: string, match: RegExpExecArray): Found | undefined {
  const { class: ofClass, base, object, instance, of, assigned, plain } = match.groups!;
  const from = match.index;
  const end = from + match[0].length;
  const name = ofClass ?? object ?? instance ?? assigned ?? plain!;
  if (NO_NAMES.has(name)) return undefined;
  if (ofClass !== undefined || object !== undefined) {
    const to = closing(text, end - 1);
    const members = declarationsIn(text.slice(end, to)).flatMap(({ declared }) =>
      declared.kind === 'callable' ? [declared] : [],
    );
    const construct = members.find((member) => member.name === 'constructor')?.parameters ?? [];
    const kind = ofClass === undefined ? 'object' : 'class';
    return { declared: { kind, name, construct, members, ...(base && { of: base }) }, from, to: to + 1 };
  }
  if (instance !== undefined) {
    const to = closing(text, end - 1);
    return { declared: { kind: 'instance', name, of: of!, construct: [], members: [] }, from: to, to: to + 1 };
  }
  const single = /^[\w$]+(?= =>)/.exec(text.slice(end))?.[0];
  const closed = single === undefined ? closing(text, end) : end + single.length - 1;
  const list = single ?? text.slice(end + 1, closed);
  const after = /^( =>)? (\{)?/.exec(text.slice(closed + 1));
  const isArrow = after?.[1] !== undefined;
  const hasBlock = after?.[2] !== undefined;
  // A call, and no declaration.
  if (!after || (!isArrow && !hasBlock) || (plain !== undefined && isArrow)) return undefined;
  const begins = closed + 1 + after[0].length;
  const to = hasBlock ? closing(text, begins - 1) : endOfExpression(text, begins);
  return {
    declared: { kind: 'callable', name, parameters: parametersOf(list), body: text.slice(begins, to) },
    from,
    to,
  };
}

/** Where the bracket at `open` is closed; strings and templates are passed over. The end of the text where it is not. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === '"' || letter === "'" || letter === '`') at = endOfString(text, at);
    else if ('([{'.includes(letter)) depth++;
    else if (')]}'.includes(letter) && --depth === 0) return at;
  }
  return text.length;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === text[from]) return at;
    else if (text[from] === '`' && text.startsWith('${', at)) at = closing(text, at + 1);
  }
  return text.length;
}

/** The comma, the semicolon or the bracket that ends what begins at `from`. */
function endOfExpression(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === '"' || letter === "'" || letter === '`') at = endOfString(text, at);
    else if ('([{'.includes(letter)) at = closing(text, at);
    else if (',;)]}'.includes(letter)) return at;
  }
  return text.length;
}

function parametersOf(list: string): Parameter[] {
  return parts(list).map((part) => {
    const [, pattern, isOptional] = /^(\{[\s\S]*?\}|\.\.\.[\w$]+|[\w$]+)( = [\s\S]+)?$/.exec(part) ?? [];
    if (pattern?.startsWith('{')) {
      const inner = part.slice(1, closing(part, 0));
      return { name: '', isOptional: / = \{\}$/.test(part), fields: parametersOf(inner) };
    }
    // `{ redis: client }` takes the name under which it is given.
    const name = pattern ?? /^[\w$]+/.exec(part)?.[0] ?? part;
    return { name: name.replace(/^\.\.\./, ''), isOptional: isOptional !== undefined || / = /.test(part) };
  });
}

/** Between commas of the outermost level. */
function parts(list: string): string[] {
  const found: string[] = [];
  for (let from = 0; from < list.length; ) {
    let to = from;
    while (to < list.length && list[to] !== ',') {
      if ('"\'`'.includes(list[to]!)) to = endOfString(list, to);
      else if ('([{'.includes(list[to]!)) to = closing(list, to);
      to++;
    }
    found.push(list.slice(from, to).trim());
    from = to + 1;
  }
  return found.filter((part) => part !== '');
}

interface Export {
  exported: string;
  local: string;
  value?: Declared;
}

/** `export { A, B as default };`, as esbuild gathers them. */
function esmExports(text: string): Export[] {
  return [...text.matchAll(/^export \{([^}]*)\}(?! from)/gm)].flatMap(([, list]) =>
    parts(list!).map((part) => {
      const [local, exported = local] = part.split(' as ');
      return { local: local!, exported: exported! };
    }),
  );
}

function commonJsExports(text: string): Export[] {
  const assigned = [...text.matchAll(/^(?:module\.)?exports(?:\.([\w$]+))? = ([\w$]+;)?/gm)].map((match) => {
    const [whole, name = 'default', local] = match;
    const value = local ? undefined : valueAt(text, match.index + whole.length, name);
    return { exported: name, local: local?.slice(0, -1) ?? name, ...(value && { value }) };
  });
  return assigned.flatMap((one) => {
    if (one.exported !== 'default' || one.value?.kind !== 'object') return [one];
    // `module.exports = { A, b: c, d() {} }` exports each of them.
    const at = text.indexOf('module.exports = {') + 'module.exports = '.length;
    const { members } = one.value;
    return parts(text.slice(at + 1, closing(text, at))).flatMap((part) => {
      const [, name, other] = /^([\w$]+)(?:: ([\w$]+))?$/.exec(part) ?? [];
      if (name !== undefined) return [{ exported: name, local: other ?? name }];
      const member = members.find((each) => part.startsWith(each.name) || part.startsWith(`async ${each.name}`));
      return member ? [{ exported: member.name, local: member.name, value: member }] : [];
    });
  });
}

/** What stands there without a name. */
function valueAt(text: string, at: number, name: string): Declared | undefined {
  const named = `${name} = ${text.slice(at)}`.replace(/^(\S+) = class (?:[\w$]+ )?/, 'class $1 ');
  const [first] = declarationsIn(named);
  return first && first.declared.name === name ? first.declared : undefined;
}

/** `var stdin_default = RedisLock;` */
function aliasOf(text: string, local: string, byName: ReadonlyMap<string, Declared>): Declared | undefined {
  const [, other] = new RegExp(`\\b${local.replaceAll('$', '\\$')} = ([\\w$]+);`).exec(text) ?? [];
  return other === undefined ? undefined : byName.get(other);
}
