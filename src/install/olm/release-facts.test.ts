import { expect, test } from 'vitest';
import { releaseFacts } from './release-facts.ts';

const cases: [version: string, kubernetes: string, openshift: string, newest: string, skipRange: string][] = [
  ['11.0.0', '1.36.0', '5.0', '5.3', '>=10.22.0 <11.0.0'],
  ['11.0.3', '1.36.0', '5.0', '5.3', '>=10.22.0 <11.0.3'],
  ['11.2.1', '1.38.0', '5.2', '5.5', '>=11.1.0 <11.2.1'],
  ['11.1.0-rc.1', '1.37.0', '5.1', '5.4', '>=11.0.0 <11.1.0-rc.1'],
  ['10.22.1', '1.35.0', '4.22', '4.25', '>=10.21.0 <10.22.1'],
];
for (const [version, kubernetes, openshift, newestOpenshift, skipRange] of cases) {
  test(`version ${version} is for OpenShift ${openshift}`, () => {
    expect(releaseFacts(version)).toEqual({ kubernetes, openshift, newestOpenshift, skipRange });
  });
}

for (const version of ['', '11.0', 'v11.0.0', '12.0.0', '11.0.0+x']) {
  test(`refuses version ${JSON.stringify(version)}`, () => {
    expect(() => releaseFacts(version)).toThrow(/expected one of 10, 11\.Y\.Z/);
  });
}
