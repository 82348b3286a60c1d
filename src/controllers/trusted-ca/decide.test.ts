import { expect, test } from 'vitest';
import { decide, type TrustedCaFacts } from './decide.ts';

const label = 'config.openshift.io/inject-trusted-cabundle';
const cases: [name: string, seen: Partial<TrustedCaFacts>, want: string][] = [
  ['creates what is missing', { labels: undefined }, 'create'],
  ['keeps one with the label', { labels: { [label]: 'true' } }, 'keep'],
  ['keeps one with other labels beside it', { labels: { [label]: 'true', a: 'b' } }, 'keep'],
  ['labels one without labels', { labels: {} }, 'label'],
  ['labels one with other labels', { labels: { a: 'b' } }, 'label'],
  ['corrects another value', { labels: { [label]: 'false' } }, 'label'],
  ['keeps one that is being deleted', { labels: {}, isDeleting: true }, 'keep'],
  ['creates none without a proxy', { hasProxy: false, labels: undefined }, 'keep'],
  ['leaves one alone that a proxy needed before', { hasProxy: false, labels: {} }, 'keep'],
];
for (const [name, seen, want] of cases) {
  test(name, () => expect(decide({ hasProxy: true, labels: {}, isDeleting: false, ...seen })).toBe(want));
}
