import { checkHybridOverlay, clusterDns, readNetwork, vxlanPort } from '../../../src/cluster/network.ts';
import { proxyVariables } from '../../../src/cluster/proxy.ts';
import { checkServerVersion } from '../../../src/cluster/server-version.ts';
import { honorsTlsProfile, readTlsProfile } from '../../../src/cluster/tls-profile.ts';
import { payloadKubeletVersion } from '../../../src/contract/version.ts';
import { type KubeObject, readObject } from '../../../src/contract/object.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  buildNetwork: (input: Input) => {
    const network = readNetwork(
      objectOf(input.networkConfig),
      input.networkOperator ? objectOf(input.networkOperator) : undefined,
    );
    return { ok: true, serviceCIDR: network.serviceCidr, clusterDNS: network.clusterDns, vxlanPort: network.vxlanPort };
  },
  validateNetwork: (input: Input) => {
    checkHybridOverlay(objectOf(input.networkOperator));
    return { ok: true };
  },
  vxlanPort: (input: Input) => ({ value: vxlanPort(objectOf(input.networkOperator)) }),
  clusterDNS: (input: Input) => ({ value: clusterDns(input.serviceCIDR) }),
  tlsProfile: (input: Input) => {
    const profile = readTlsProfile(input.apiServer ? objectOf(input.apiServer) : undefined);
    return { minTLSVersion: profile.minTlsVersion, tlsAdherence: profile.adherence, ciphers: profile.ciphers };
  },
  honourTlsProfile: (input: Input) => ({ value: honorsTlsProfile(input.tlsAdherence ?? '') }),
  proxyVariables: (input: Input) => {
    const { enabled, variables } = proxyVariables(input.operatorEnv ?? {});
    return { proxyEnabled: enabled, vars: variables };
  },
  validateServerVersion: (input: Input) => {
    checkServerVersion(input.gitVersion, input.kubeletVersion ?? payloadKubeletVersion);
    return { ok: true };
  },
};

/** Rows have the name of an object beside its kind. */
function objectOf({ name, ...rest }: Input): KubeObject {
  return readObject({ ...rest, metadata: { name } });
}
