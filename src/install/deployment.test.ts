import { expect, test } from 'vitest';
import { operatorDeployment } from './deployment.ts';

for (const platform of ['openshift', 'kubernetes'] as const) {
  test(`OP-06: on ${platform} the pod uses the network of its machine, which may be the only one that reaches port 22 of hosts`, () => {
    const { spec } = operatorDeployment({ namespace: 'wmco', image: 'i', platform });
    expect(spec).toMatchObject({
      template: { spec: { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' } },
    });
  });
}
