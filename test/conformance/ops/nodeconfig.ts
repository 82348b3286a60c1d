import { Secret } from '../../../src/base/secret.ts';
import { clusterDns } from '../../../src/cluster/network.ts';
import { identity } from '../../../src/contract/names.ts';
import { file } from '../../../src/contract/paths.ts';
import { parsePrivateKey } from '../../../src/host/keys/private-key.ts';
import { parseAuthorizedKey, publicKeyHash } from '../../../src/host/keys/public-key.ts';
import { caBundleEntry } from '../../../src/node/desired/ca-bundle.ts';
import { certificateKubeconfig, serviceAccountToken, tokenKubeconfig } from '../../../src/node/desired/kubeconfig.ts';
import { kubeletConfig } from '../../../src/node/desired/kubelet-config.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  caBundleEntry: (input: Input) => ({ value: caBundleEntry(input) }),
  certificateKubeconfig: (input: Input) =>
    document(
      certificateKubeconfig(
        `${identity.agentUserPrefix}${input.nodeName}`,
        input.apiServerURL,
        input.caCert,
        file.agentCertificate,
      ),
    ),
  kubeletConfiguration: (input: Input) => document(kubeletConfig(clusterDns(input.serviceCIDR))),
  publicKeyHash: (input: Input) => {
    const isPrivate = typeof input.privateKeyPem === 'string';
    const key = isPrivate ? parsePrivateKey(input.privateKeyPem).publicKey : parseAuthorizedKey(input.authorizedKey);
    return { value: publicKeyHash(key) };
  },
  tokenKubeconfig: (input: Input) => {
    const token = serviceAccountToken(secrets(input.secretData ?? {}), 'Secret');
    return document(tokenKubeconfig(input.userName, input.apiServerURL, token).reveal());
  },
};

function document(text: string): { text: string; json: unknown } {
  return { text, json: JSON.parse(text) };
}

function secrets(data: Record<string, string>): Record<string, Secret> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, new Secret(value)]));
}
