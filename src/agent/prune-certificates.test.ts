import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { dir } from '#contract/paths.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import { pruneOvnkubeCertificates } from './prune-certificates.ts';

const pathOf = (name: string) => `${dir.cniConfig}\\${name}`;
const dated = (day: number) => `ovnkube-client-2026-03-${String(day).padStart(2, '0')}-10-11-12.pem`;
const current = 'ovnkube-client-current.pem';
const updated = 'ovnkube-client-updated.pem';

/** A host with certificates by name; a link has the content of its target. */
function hostWith(contents: Record<string, string>): ModelHost {
  const host = new ModelHost();
  for (const [name, content] of Object.entries(contents)) host.fileTexts.set(pathOf(name), content);
  return host;
}

const days = (...numbers: number[]) => Object.fromEntries(numbers.map(day => [dated(day), `certificate ${day}`]));
const left = (host: ModelHost) => host.files.list(dir.cniConfig).then(names => names.toSorted());

const cases: [string, Record<string, string>, string[]][] = [
  ['finds nothing', {}, []],
  ['keeps one', days(1), [dated(1)]],
  ['keeps two', days(1, 2), [dated(1), dated(2)]],
  ['keeps the newest two of many', days(3, 1, 4, 2), [dated(3), dated(4)]],
  [
    'does not count links, and keeps what the current one leads to',
    { ...days(1, 2, 3, 4), [current]: 'certificate 1' },
    [dated(1), dated(3), dated(4), current],
  ],
  [
    'keeps what the coming link leads to',
    { ...days(1, 2, 3, 4), [current]: 'certificate 4', [updated]: 'certificate 2' },
    [dated(2), dated(3), dated(4), current, updated],
  ],
  [
    'deletes no real certificate of two while both links are there',
    { ...days(1, 2), [current]: 'certificate 1', [updated]: 'certificate 2' },
    [dated(1), dated(2), current, updated],
  ],
  [
    'goes by age alone when the link leads to none of them',
    { ...days(1, 2, 3), [current]: '' },
    [dated(2), dated(3), current],
  ],
];
for (const [name, before, want] of cases) {
  test(name, async () => {
    const host = hostWith(before);
    expect(await pruneOvnkubeCertificates(host.files)).toEqual([]);
    expect(await left(host)).toEqual(want.toSorted());
  });
}

const others = [
  'cni.conf',
  'ovnkube-client.pem',
  'ovnkube-client-2026-03-01.pem',
  'ovnkube-client-2026-03-01-10-11-12.pem.bak',
  'x-ovnkube-client-2026-03-01-10-11-12.pem',
  'ovnkube-server-2026-03-01-10-11-12.pem',
  'ovnkube-client-a026-03-01-10-11-12.pem',
];
test.each(others)('never touches %s', async name => {
  const host = hostWith({ ...days(5, 6, 7, 8), [name]: 'x' });
  await pruneOvnkubeCertificates(host.files);
  expect(await left(host)).toContain(name);
});

test('checks no file as long as there is nothing to delete', async () => {
  const host = hostWith({ ...days(1, 2), [current]: 'certificate 2' });
  host.before = call => expect.fail(call);
  expect(await pruneOvnkubeCertificates(host.files)).toEqual([]);
});

test('reports one that cannot be deleted and continues', async () => {
  const host = hostWith(days(1, 2, 3, 4));
  host.before = call => {
    if (call === `remove ${pathOf(dated(2))}`) throw new Error('access denied');
  };
  const warnings = await pruneOvnkubeCertificates(host.files);
  expect(warnings).toEqual([`old certificates of the hybrid overlay: ${dated(2)}: access denied`]);
  expect(await left(host)).toEqual([dated(2), dated(3), dated(4)]);
});

test('deletes nothing when it cannot tell what is in use', async () => {
  const host = hostWith({ ...days(1, 2, 3, 4), [current]: 'certificate 1' });
  host.before = call => {
    if (call === `hash ${pathOf(current)}`) throw new Error('access denied');
  };
  expect(await pruneOvnkubeCertificates(host.files)).toHaveLength(1);
  expect(await left(host)).toHaveLength(5);
});

test('keeps the newest two and those in use', async () => {
  const day = fc.integer({ min: 1, max: 28 });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(day, { maxLength: 8 }), fc.option(day), async (given, used) => {
      const host = hostWith({ ...days(...given), ...(used !== null && { [current]: `certificate ${used}` }) });
      await pruneOvnkubeCertificates(host.files);
      const newest = given.toSorted((one, other) => other - one).slice(0, 2);
      const inUse = given.filter(one => one === used);
      const expected = [...new Set([...newest, ...inUse])].map(dated);
      expect((await left(host)).filter(name => name !== current)).toEqual(expected.toSorted());
    }),
    { numRuns: 300 },
  );
});
