import * as fc from 'fast-check';
import { readDer } from '../../../src/base/der.ts';
import { element } from '../../../src/base/der-write.ts';

/** DER as a tree that can be bent. What stands in an OCTET STRING is part of it. */
interface Tree {
  tag: number;
  /** Either children or octets. */
  children: Tree[] | undefined;
  octets: Uint8Array;
  /** Octets of length beyond those it needs. */
  extraLength: number;
}

const octetString = 0x04;
const tags = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x14, 0x16, 0x1e, 0x30, 0x31, 0x81, 0x82, 0x86, 0x87, 0xa0,
];
const words = ['system:masters', 'system:node:evil', 'system:kube-controller-manager', 'evil.example.com', 'a\0b', ''];

interface Change {
  at: number;
  what: 'drop' | 'twice' | 'swap' | 'tag' | 'octets' | 'flip' | 'length' | 'word' | 'move' | 'append';
  number: number;
  octets: Uint8Array;
}

/** Changes of the structure of a request, to be put into its info before it is signed. */
export const structuralChanges: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    at: fc.nat(10_000),
    what: fc.constantFrom('drop', 'twice', 'swap', 'tag', 'octets', 'flip', 'length', 'word', 'move', 'append'),
    number: fc.nat(10_000),
    octets: fc.uint8Array({ maxLength: 8 }),
  }),
  { minLength: 1, maxLength: 3 },
);

/** The bytes with the changes made, one after another. */
export function mutateDer(bytes: Uint8Array, changes: readonly Change[]): Uint8Array {
  const root: Tree = { tag: 0, children: treesOf(bytes), octets: bytes, extraLength: 0 };
  for (const change of changes) apply(root, change);
  return join((root.children ?? []).map(encode));
}

function treesOf(bytes: Uint8Array): Tree[] | undefined {
  return readDer(bytes)?.map(({ tag, content }) => {
    const isNest = (tag & 0x20) !== 0 || (tag === octetString && content.length > 1);
    return { tag, children: isNest ? treesOf(content) : undefined, octets: content, extraLength: 0 };
  });
}

function apply(root: Tree, { at, what, number, octets }: Change): void {
  const places = placesIn(root);
  const place = places[at % places.length];
  const other = places[number % places.length];
  if (place === undefined || other === undefined) return;
  const { list, index, tree } = place;
  const copy = structuredClone(other.tree);
  const edits: Record<Change['what'], () => unknown> = {
    drop: () => list.splice(index, 1),
    twice: () => list.splice(index, 0, structuredClone(tree)),
    swap: () => list.splice(index, 2, ...list.slice(index, index + 2).reverse()),
    tag: () => (tree.tag = tags[number % tags.length] ?? 0),
    octets: () => Object.assign(tree, { children: undefined, octets }),
    flip: () => Object.assign(tree, { children: undefined, octets: flipped(tree, number) }),
    length: () => (tree.extraLength = 1 + (number % 2)),
    word: () =>
      Object.assign(tree, { children: undefined, octets: new TextEncoder().encode(words[number % words.length]) }),
    move: () => list.splice(index, 1, copy),
    append: () => list.push(copy),
  };
  edits[what]();
}

interface Place {
  list: Tree[];
  index: number;
  tree: Tree;
}

function placesIn(root: Tree): Place[] {
  const list = root.children ?? [];
  return list.flatMap((tree, index) => [{ list, index, tree }, ...placesIn(tree)]);
}

function flipped(tree: Tree, bit: number): Uint8Array {
  const octets = Uint8Array.from(contentOf(tree));
  const at = (bit >> 3) % Math.max(1, octets.length);
  if (octets.length > 0) octets[at] = (octets[at] ?? 0) ^ (1 << (bit & 7));
  return octets;
}

function contentOf({ children, octets }: Tree): Uint8Array {
  return children === undefined ? octets : join(children.map(encode));
}

function encode(tree: Tree): Uint8Array {
  const content = contentOf(tree);
  if (tree.extraLength === 0) return element(tree.tag, content);
  const digits = [content.length >> 8, content.length & 0xff];
  const length = [...new Uint8Array(tree.extraLength), ...digits];
  return Uint8Array.from([tree.tag, 0x80 + length.length, ...length, ...content]);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
