import { expect, test } from 'vitest';
import { sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';
import { measureReconnects } from '../kit/reconnects.ts';

/** `npm run bench -- reconnects` makes more of them. */
test('600 forced reconnects leak no memory, handles or rejections', { timeout: 200_000 }, async () => {
  const figures = await measureReconnects(sharedKubeconfig(), 600);
  expect(figures.heapGrowthMegabytes).toBeLessThan(5);
  expect(figures.watches).toBeGreaterThanOrEqual(600);
  expect(figures).toMatchObject({ reconnects: 600, rejections: 0, handlesLeft: [] });
  expect(figures.exitMs).toBeLessThan(20_000);
});
