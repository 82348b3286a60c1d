import { expect, test } from 'vitest';
import { sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';
import { measureReconnects } from '../kit/reconnects.ts';

test('2,000 forced reconnects leak no memory, handles or rejections', { timeout: 300_000 }, async () => {
  const figures = await measureReconnects(sharedKubeconfig(), 2000);
  expect(figures.heapGrowthMegabytes).toBeLessThan(5);
  expect(figures.watches).toBeGreaterThanOrEqual(2000);
  expect(figures).toMatchObject({ reconnects: 2000, rejections: 0, handlesLeft: [] });
  expect(figures.exitMs).toBeLessThan(20_000);
});
