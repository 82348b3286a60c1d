import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, constants, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { agentName } from '../../../src/contract/names.ts';
import { type PayloadFile, payloadFor } from '../../../src/node/payload.ts';
import { writeSigned } from '../payload-key.ts';
import type { Programs } from './operator-bundle.ts';

/** Makes the payload folder of an image: the agent itself, and a double for every other program. */
export async function makePayload(
  folder: string,
  { agent, kubelet, logRunner, service, containerd = service }: Programs & { agent: string; containerd?: string },
) {
  const real = new Map([
    [`${agentName}.exe`, agent],
    ['kubelet.exe', kubelet],
    ['containerd.exe', containerd],
    ['kube-log-runner.exe', logRunner],
  ]);
  const hashes: Record<string, string> = {};
  for (const { name, source } of allFiles()) {
    const from = real.get(name) ?? service;
    await mkdir(dirname(join(folder, source)), { recursive: true });
    await copyFile(from, join(folder, source), constants.COPYFILE_FICLONE);
    hashes[name] = await hashOf(from);
  }
  const lines = Object.entries(hashes).map(([name, hash]) => `${hash}  ${name}\n`);
  writeSigned(folder, lines.join(''));
  return hashes;
}

function allFiles(): PayloadFile[] {
  return ['', 'AWS', 'Azure'].flatMap(platform => payloadFor(platform));
}

async function hashOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk as Uint8Array);
  return digest.digest('hex');
}
