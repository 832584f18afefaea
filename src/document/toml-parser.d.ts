// Types of the syntax tree that the `toml` package builds but does not describe.
declare module 'toml/lib/parser.js' {
  export interface EntryNode {
    readonly type: 'Assign' | 'InlineTableValue';
    readonly key: string | readonly string[];
    readonly value: ValueNode;
    readonly offset: number;
  }
  export type ValueNode =
    | { readonly type: 'Array'; readonly value: readonly ValueNode[]; readonly offset: number }
    | {
        readonly type: 'InlineTable';
        readonly value: readonly EntryNode[];
        readonly offset: number;
      }
    | { readonly type: 'String' | 'Integer' | 'Float' | 'Boolean'; readonly offset: number };
  export interface HeaderNode {
    readonly type: 'ObjectPath' | 'ArrayPath';
    readonly value: readonly string[];
    readonly offset: number;
  }
  const parser: {
    parse(
      text: string,
      options?: { readonly maxDepth?: number },
    ): readonly (EntryNode | HeaderNode)[];
  };
  export default parser;
}
