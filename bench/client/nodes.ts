import type { Client } from '../../src/kube/client.ts';
import { type Node, nodes } from '../../src/kube/resources.ts';

const writers = 40;

export async function createNodes(client: Client, count: number): Promise<void> {
  let next = 0;
  const write = async () => {
    while (next < count) {
      const number = next;
      next += 1;
      await client.create(nodes, nodeOf(number));
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

/** About 6 KB, as in real clusters. */
function nodeOf(number: number): Node {
  const name = `node-${number}`;
  const time = '2026-01-01T00:00:00Z';
  const status = {
    addresses: [
      { type: 'InternalIP', address: `10.${number >> 8}.${number & 255}.1` },
      { type: 'Hostname', address: name },
    ],
    conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map(type => ({
      type,
      status: 'False',
      reason: `KubeletHas${type}`,
      message: 'kubelet is posting a status that is long enough to be real',
      lastHeartbeatTime: time,
      lastTransitionTime: time,
    })),
    capacity: { cpu: '8', memory: '32Gi', pods: '250', 'ephemeral-storage': '100Gi' },
    allocatable: { cpu: '7', memory: '30Gi', pods: '250', 'ephemeral-storage': '90Gi' },
    images: range(12).map(at => ({
      names: [`registry.example.com/some/image-${at}@sha256:${String(at).repeat(64).slice(0, 64)}`],
      sizeBytes: 1000 * at,
    })),
  };
  return {
    metadata: {
      name,
      labels: Object.fromEntries(range(14).map(at => [`example.com/label-${at}`, `value-${number}-${at}`])),
      annotations: Object.fromEntries(range(10).map(at => [`example.com/note-${at}`, `${number}`.repeat(12)])),
    },
    spec: { providerID: `example:///${name}`, taints: [{ key: 'os', value: 'linux', effect: 'NoSchedule' }] },
    status,
  };
}

function range(length: number): number[] {
  return Array.from({ length }, (_, at) => at);
}
