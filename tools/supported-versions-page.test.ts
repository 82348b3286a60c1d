import { expect, test } from 'vitest';
import { attempt } from '../src/base/errors.ts';
import { checkServerVersion } from '../src/cluster/server-version.ts';
import { operatorReleases, platformWithVxlanPort } from '../src/contract/supported-versions.ts';
import { preflight } from '../src/node/lifecycle/configure/preflight.ts';
import { healthyInventory } from '../test/kit/inventories.ts';
import { platforms, supportedVersionsPage } from './supported-versions-page.ts';

const page = supportedVersionsPage();
/** Cells of the table below a title. */
const table = (title: string): string[][] =>
  (page.split(`## ${title}\n`)[1] ?? '')
    .split('\n## ')[0]!
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(line => line.slice(2, -2).split(' | '));

/** What preflight finds on a host with this build, on a platform. */
function codeOf(build: string, vxlanPort: string): string {
  const inventory = { ...healthyInventory, os: { product: 'P', build, installationType: 'Server Core' } };
  const result = attempt(() =>
    preflight({ address: 'a', username: 'Administrator', inventory, ipv4: '10.0.0.5', vxlanPort, missing: [] }),
  );
  return result.ok ? 'accepted' : result.error.code;
}

const windowsRows = table('Windows Server').slice(1);
const [, ...platformRows] = table('Platforms');

test('the page has every release of Windows and every platform', () => {
  expect(windowsRows.map(([name]) => name)).toEqual(table('Platforms')[0]?.slice(1));
  expect(platformRows.map(([name]) => name)).toEqual(Object.values(platforms));
});

for (const [name = '', build = '', minimum = ''] of windowsRows) {
  const update = /^[\d.]+\.(\d+):/.exec(minimum)?.[1];
  test(`preflight accepts ${name} (${build}) from the minimum on the page`, () => {
    expect(codeOf(`${build}.${update ?? '0'}`, '')).toBe('accepted');
    if (update !== undefined) expect(codeOf(`${build}.${Number(update) - 1}`, '')).toBe('HOST_SYSTEM_UNSUPPORTED');
  });
}

test('preflight rejects builds that are not on the page', () => {
  for (const build of ['10.0.14393.1', '10.0.19045.1', '10.0.25398.1', '10.0.99999.1'])
    expect([build, codeOf(build, '')]).toEqual([build, 'HOST_SYSTEM_UNSUPPORTED']);
});

for (const [index, [type, platform = '']] of Object.entries(platforms).entries()) {
  const answers = platformRows[index]?.slice(1) ?? [];
  for (const [at, [release = '', build = '']] of windowsRows.entries()) {
    test(`preflight agrees that ${release} on ${platform}: ${answers[at]}`, () => {
      const port = type === platformWithVxlanPort ? '9898' : '';
      expect(codeOf(`${build}.99999`, port)).toBe(answers[at] === 'yes' ? 'accepted' : 'HOST_VXLAN_PORT_UNSUPPORTED');
    });
  }
}

for (const { kubelet, kubernetes } of operatorReleases) {
  const [, , , servers = ''] = table('Operator and cluster').find(row => row[2] === kubelet) ?? [];
  const [, , last = ''] = /^(\S+) to (\S+)$/.exec(servers) ?? [];
  const codeFor = (version: string) => {
    const result = attempt(() => checkServerVersion(version, kubelet));
    return result.ok ? 'accepted' : result.error.code;
  };
  const next = (version: string, by: number) => version.replace(/\d+$/, minor => String(Number(minor) + by));
  test(`the operator with kubelet ${kubelet} accepts API servers ${servers}, and no others`, () => {
    expect([next(kubernetes, -1), kubernetes, last, next(last, 1)].map(each => codeFor(`v${each}.3`))).toEqual([
      'SERVER_VERSION_UNSUPPORTED',
      'accepted',
      'accepted',
      'SERVER_VERSION_UNSUPPORTED',
    ]);
  });
}
