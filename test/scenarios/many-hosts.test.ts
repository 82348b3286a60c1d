import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { nodes } from '../../src/kube/resources.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { ManualSandboxOperator } from '../kit/manual-sandbox-operator.ts';

/** Memory and time of a sandbox, measured in a separate process. */

async function memoryMegabytes(): Promise<number> {
  await new Promise(resolve => setTimeout(resolve, 100));
  return process.memoryUsage().rss / 1e6;
}

test('two hundred idle hosts need little memory', async () => {
  await (await startSandbox({ hosts: 1 })).stop();
  const before = await memoryMegabytes();
  const stalls = monitorEventLoopDelay({ resolution: 10 });
  stalls.enable();
  const startMs = performance.now();
  await using sandbox = await startSandbox({ hosts: 200 });
  const startedMs = performance.now() - startMs;
  const extra = (await memoryMegabytes()) - before;
  stalls.disable();
  console.log(
    `200 idle hosts: ${startedMs.toFixed(0)} ms, ${extra.toFixed(0)} MB more, longest stall ${(stalls.max / 1e6).toFixed(0)} ms`,
  );
  expect(sandbox.hosts.every(host => host.isOn)).toBe(true);
  expect(extra).toBeLessThan(250);
});

test('ten hosts join at once and share one copy of the payload', async () => {
  await using sandbox = await startSandbox({ hosts: 10, speed: 20 });
  await using operator = await ManualSandboxOperator.start(sandbox, { payloadBytes: 5_000_000 });
  const startMs = performance.now();
  await Promise.all(sandbox.hosts.map(host => operator.join(host.spec.address)));
  console.log(`10 hosts by hand: ${(performance.now() - startMs).toFixed(0)} ms`);
  const { items } = await operator.client.list(nodes, { labelSelector: 'kubernetes.io/os=windows' });
  expect(items).toHaveLength(10);
  const kept = new Set(sandbox.hosts.flatMap(({ files }) => files.paths().map(path => files.content(path)?.sha256)));
  const large = sandbox.hosts.flatMap(({ files }) =>
    files.paths().flatMap(path => ((files.content(path)?.bytes ?? 0) > 32 * 1024 ? [files.content(path)?.sha256] : [])),
  );
  // Each host has every program twice (installed and packed), the disk has it once.
  expect(large.length).toBeGreaterThan(10 * 12);
  expect(new Set(large).size).toBeLessThanOrEqual(13);
  expect(kept.size).toBeGreaterThan(new Set(large).size);
});
