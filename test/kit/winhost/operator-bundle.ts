import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { sha256 } from '../../../src/base/sha256.ts';
import { agentName } from '../../../src/contract/names.ts';
import type { BundleFile } from '../../../src/node/bundle.ts';
import { payloadFor } from '../../../src/node/payload.ts';

/** Programs of this machine that are put on hosts. */
export interface Programs {
  kubelet: string;
  logRunner: string;
  /** The double of every other service. */
  service: string;
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
