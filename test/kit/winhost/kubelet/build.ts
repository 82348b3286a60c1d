import { fileURLToPath } from 'node:url';
import { buildAgent } from '../../../../tools/build-agent/build-agent.ts';
import { payloadKubeletVersion } from '../../../../src/contract/version.ts';

/** The path of kubelet.exe for the lab; made when its sources have changed. Copy it, never write to it. */
export async function buildKubelet(): Promise<string> {
  const { path } = await buildAgent({
    entry: fileURLToPath(import.meta.resolve('./main.ts')),
    version: payloadKubeletVersion,
    about: { description: 'Kubelet double for tests', fileName: 'kubelet.exe' },
  });
  return path;
}
