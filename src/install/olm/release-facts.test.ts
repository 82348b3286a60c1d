import { expect, test } from 'vitest';
import { releaseFacts } from './release-facts.ts';

for (const version of ['11.0.0', '11.0.3', '11.0.0-rc.1']) {
  test(`version ${version} is for OpenShift 5.0 and replaces everything since 10.22.0`, () => {
    expect(releaseFacts(version)).toEqual({
      kubernetes: '1.36.0',
      openshift: '5.0',
      newestOpenshift: '5.3',
      skipRange: `>=10.22.0 <${version}`,
    });
  });
}

for (const version of ['', '11.0', 'v11.0.0', '12.0.0', '11.0.0+x']) {
  test(`refuses version ${JSON.stringify(version)}`, () => {
    expect(() => releaseFacts(version)).toThrow(/has no row in src\/contract\/supported-versions\.ts/);
  });
}
