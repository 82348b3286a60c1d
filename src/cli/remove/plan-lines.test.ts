import { expect, test } from 'vitest';
import { hostIn, nodeOf } from '../../../test/kit/status-views.ts';
import { planLines } from './plan-lines.ts';
import type { Target } from './target.ts';

const ready = hostIn('ready', 'win-1');
const { instance } = ready;
if (instance === undefined) throw new Error('the host has an instance');
const entry: Target = { is: 'entry', host: ready, key: 'win-1', value: 'username=a', instance };
const direct: Target = { is: 'instance', host: ready, instance };
const fresh = hostIn('fresh', 'new');
const orphan: Target = { is: 'node', host: ready, node: nodeOf('win-1'), address: '10.0.0.1', hostKey: undefined };
const facts = { namespace: 'ns', isForced: false, pods: { leaving: 3, staying: 1 }, maxUnavailable: '1' };

const cases: [what: string, target: Target, over: Partial<typeof facts> | object, want: RegExp[]][] = [
  [
    'an entry',
    entry,
    {},
    [
      /^Host win-1, Node win-1: entry win-1 is deleted from ConfigMap windows-instances$/m,
      /evicts 3 pods; PodDisruptionBudgets are respected$/m,
      /deletes Node win-1 and WindowsInstance win-1$/m,
      /To cancel it, add the entry win-1 to ConfigMap windows-instances again\.$/m,
    ],
  ],
  ['an entry that is deleted already', { ...entry, value: undefined }, {}, [/its entry is deleted from .* already$/m]],
  ['pods that cannot be listed', entry, { pods: undefined }, [/evicts its pods, which you cannot list/]],
  [
    'force',
    entry,
    { isForced: true },
    [/skips the host: services/, /pods that cannot be evicted are left/, /keeps a note/],
  ],
  [
    'an instance',
    direct,
    {},
    [/its WindowsInstance is deleted$/m, /kubectl annotate windowsinstance win-1 -n ns .*removal-`/],
  ],
  ['a Node', orphan, {}, [/a WindowsInstance is created that requests the removal$/m]],
  [
    'an entry without an instance',
    { is: 'entry', host: fresh, key: 'new', value: 'username=a', instance: undefined },
    {},
    [/^Host new, which has no Node: entry new/, /has not configured it, so the host is not touched\.$/],
  ],
  [
    'a second entry',
    { is: 'entry', host: { ...fresh, phase: 'Duplicate' }, key: 'new', value: 'username=a', instance: undefined },
    {},
    [/Another entry is the same host, so the host stays\.$/],
  ],
];
for (const [what, target, over, wants] of cases) {
  test(`says what happens to ${what}`, () => {
    const text = planLines(target, { ...facts, ...over }).join('\n');
    for (const want of wants) expect(text).toMatch(want);
  });
}
