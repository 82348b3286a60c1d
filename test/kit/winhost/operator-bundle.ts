import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Secret } from '../../../src/base/secret.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import type { ClusterFacts, ServiceAccountToken } from '../../../src/cluster/facts.ts';
import { agentName } from '../../../src/contract/names.ts';
import { type BundleFile, packContent } from '../../../src/node/bundle.ts';
import { nodeFiles } from '../../../src/node/desired/files.ts';
import { payloadFor } from '../../../src/node/payload.ts';
import { TestCa } from '../certificates.ts';

/** Programs of this machine that are put on hosts. */
export interface Programs {
  kubelet: string;
  logRunner: string;
  /** The double of every other service. */
  service: string;
}

export interface Tokens {
  bootstrapToken: ServiceAccountToken;
  agentToken: ServiceAccountToken;
}

/** Kubeconfigs, kubelet configuration, CA bundle and so on. */
export async function textFiles(facts: ClusterFacts, tokens: Tokens): Promise<BundleFile[]> {
  const tls = { certificate: exporter.cert, key: new Secret(exporter.key) };
  const { files } = nodeFiles({ facts, ...tokens, tls, registries: {} });
  return Promise.all(
    files.map(async ({ path, content, sensitive }) => ({
      path,
      secret: sensitive,
      ...(await packContent(new TextEncoder().encode(content.reveal()))),
    })),
  );
}

/** Everything that a real operator carries in its image, played by doubles. */
export async function programFiles({ kubelet, logRunner, service }: Programs): Promise<BundleFile[]> {
  const special = new Map([
    ['kubelet.exe', kubelet],
    ['kube-log-runner.exe', logRunner],
  ]);
  const carried = payloadFor('None').filter(({ name }) => name !== `${agentName}.exe`);
  return Promise.all(carried.map(({ name, directory }) => asIs(special.get(name) ?? service, `${directory}\\${name}`)));
}

const exporter = new TestCa('exporter').issue({ commonName: 'exporter', names: ['exporter'] });

/** Large programs are not packed: that would take longer than to send them. */
async function asIs(source: string, path: string): Promise<BundleFile> {
  const bytes = (await stat(source)).size;
  return {
    path,
    secret: false,
    sha256: sha256(await readFile(source)),
    bytes,
    encoding: 'none',
    packedBytes: bytes,
    packed: () => createReadStream(source),
  };
}
