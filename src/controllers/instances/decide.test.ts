import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideOrphan, isSameHost, type ListedEntry, type OrphanDecision, type RecordedHost } from './decide.ts';

const hostOf = (node: string | undefined, address: string, ...addresses: string[]): RecordedHost => ({
  node,
  address,
  addresses: [address, ...addresses],
  isTouched: true,
});
const entry = (address: string, ipv4?: string, node?: string): ListedEntry => ({ address, ipv4, node });
const win1 = hostOf('win1.example.com', '10.0.0.1', '10.9.0.1');

const associations: [string, RecordedHost, ListedEntry, boolean][] = [
  ['by the address that was dialed', win1, entry('10.0.0.1', '10.0.0.1'), true],
  ['by the address of its default route', win1, entry('10.9.0.1', '10.9.0.1'), true],
  ['by the address that a name resolves to', win1, entry('alias.example.com', '10.0.0.1'), true],
  ['by its name', win1, entry('win1.example.com', '10.0.0.77'), true],
  ['by its name in another case', win1, entry('Win1.Example.com.'), true],
  ['by its short name', win1, entry('win1'), true],
  ['by its full name when the short one is recorded', hostOf('win1', '10.0.0.1'), entry('win1.example.com'), true],
  ['by the name it was listed under', hostOf('win1', 'alias.example.com'), entry('alias'), true],
  ['by the record of the instance of the entry', win1, entry('x', '10.0.0.7', 'win1.example.com'), true],
  ['not when the instance of the entry is another Node', win1, entry('win1', '10.0.0.1', 'win7'), false],
  ['not by another address', win1, entry('10.0.0.2', '10.0.0.2'), false],
  ['not by another name', win1, entry('win2.example.com', '10.0.0.2'), false],
  ['not by part of a name', win1, entry('win', '10.0.0.2'), false],
  ['not by the beginning of an address', hostOf('10', '10.0.0.1'), entry('10.0.0.2', '10.0.0.2'), false],
  ['not by an empty address', { ...win1, addresses: [''] }, entry('x'), false],
  ['not without a record', hostOf(undefined, '10.0.0.1'), entry('win1', '10.0.0.2'), false],
];
for (const [title, host, listed, want] of associations) {
  test(`a host is an entry ${title}`, () => expect(isSameHost(host, listed)).toBe(want));
}

const one = entry('10.0.0.1', '10.0.0.1');
const win2 = hostOf('win2', '10.0.0.2');
const untouched = { ...hostOf(undefined, 'win9'), isTouched: false };
const orphanCases: [string, RecordedHost, ListedEntry[], ListedEntry[], OrphanDecision['do'], RegExp][] = [
  ['goes when it never touched its host', untouched, [one], [entry('win9.corp')], 'delete', /is gone/],
  ['is removed when it never joined', hostOf(undefined, 'win9'), [one], [entry('win9.corp')], 'remove', /is gone/],
  ['is removed when nothing is listed', win2, [], [], 'remove', /is gone/],
  ['is removed when others are listed', win2, [one], [], 'remove', /is gone/],
  ['is taken over by another entry', win1, [one], [], 'delete', /another entry/],
  ['is taken over although a third entry failed', win1, [one], [entry('win1')], 'delete', /another entry/],
  ['stays while a failed entry has its name', win2, [one], [entry('win2.corp')], 'keep', /may be win2\.corp/],
  ['stays while a failed entry has its address', win2, [], [entry('10.0.0.2')], 'keep', /may be 10\.0\.0\.2/],
  ['is removed beside a mistyped entry', win2, [one], [entry('wni3.example.com')], 'remove', /is gone/],
  ['is removed beside a failed entry for another address', win2, [], [entry('10.0.0.22')], 'remove', /is gone/],
  [
    'is removed when a failed entry has part of its name',
    win2,
    [],
    [entry('win22.corp'), entry('xwin2')],
    'remove',
    /is gone/,
  ],
  [
    'is removed when a failed entry is recorded as another Node',
    win2,
    [],
    [entry('win2.corp', undefined, 'win7')],
    'remove',
    /is gone/,
  ],
];
for (const [title, host, entries, failures, want, why] of orphanCases) {
  test(`an instance without an entry ${title}`, () => {
    expect(decideOrphan(host, { entries, failures })).toEqual({ do: want, why: expect.stringMatching(why) });
  });
}

const unidentified: [string, RecordedHost, ListedEntry[], OrphanDecision['do']][] = [
  ['stays', win2, [], 'keep'],
  ['goes when it never touched its host', untouched, [], 'delete'],
  ['is taken over by another entry', win1, [one], 'delete'],
];
for (const [title, host, entries, want] of unidentified) {
  test(`an instance without an entry, beside a new instance that is not identified, ${title}`, () => {
    expect(decideOrphan(host, { entries, failures: [] }, 'new').do).toBe(want);
  });
}

const someHost = fc
  .tuple(fc.constantFrom('a', 'b.example.com', 'c', undefined), fc.integer({ min: 1, max: 4 }))
  .map(([node, last]) => hostOf(node, `10.0.1.${last}`));
const someEntry = fc.oneof(
  fc.integer({ min: 1, max: 4 }).map(last => entry(`10.0.1.${last}`, `10.0.1.${last}`)),
  fc.constantFrom('a', 'b.example.com', 'alias').map(name => entry(name)),
);

test('an instance that another entry takes over by its text is kept while that entry fails', () => {
  fc.assert(
    fc.property(someHost, someEntry, fc.array(someEntry), (host, listed, others) => {
      const entries = others.filter(other => !isSameHost(host, other));
      const works = decideOrphan(host, { entries: [...entries, listed], failures: [] });
      const fails = decideOrphan(host, { entries, failures: [{ ...listed, ipv4: undefined }] });
      const isTakenOver = works.why.startsWith('another entry');
      return works.do === (isTakenOver ? 'delete' : 'remove') && (fails.do === 'keep') === isTakenOver;
    }),
    { numRuns: 1000 },
  );
});
