import {
  buildText,
  kubeletSkew,
  operatorReleases,
  platformWithVxlanPort,
  windowsVersions,
  windowsVersionsOn,
} from '../src/contract/supported-versions.ts';

/** As their documentation spells them, by type in the Infrastructure object. */
export const platforms: Readonly<Record<string, string>> = {
  AWS: 'AWS',
  Azure: 'Azure',
  GCP: 'Google Cloud',
  VSphere: 'vSphere',
  Nutanix: 'Nutanix',
  None: 'None: hosts of your own, also clusters other than OpenShift',
};

/** `docs/supported-versions.md`. */
export function supportedVersionsPage(): string {
  return `# Supported versions

Generated from \`src/contract/supported-versions.ts\` by \`npm run generate\`. The operator checks the API server when it
starts, and each host before anything on it is changed ([prerequisites](prerequisites.md)), with the same table.

## Operator and cluster

| operator | OpenShift, OKD | kubelet of the payload | API servers |
|---|---|---|---|
${operatorReleases.map(releaseRow).join('\n')}

An API server outside this range is \`SERVER_VERSION_UNSUPPORTED\`. \`--kubelet-version\` is for a payload of your own with
another kubelet; its range is counted in the same way.

## Windows Server

| release | build | minimum | VXLAN port of your choice |
|---|---|---|---|
${windowsVersions.map(windowsRow).join('\n')}

Server Core and Desktop Experience are both accepted, clients of Windows are not (\`HOST_SYSTEM_UNSUPPORTED\`). Containers
need an image of the [same build](workloads.md#the-image-must-match-the-build).

## Platforms

| platform | ${windowsVersions.map(({ name }) => name).join(' | ')} |
|---|${windowsVersions.map(() => '---|').join('')}
${Object.entries(platforms).map(platformRow).join('\n')}

Other values of \`platformStatus.type\` are treated like None. ${platforms[platformWithVxlanPort]} needs another VXLAN port than the default, which
Windows Server 2019 does not have.

## Tested with

The operator and the agent's program are tested on a real kube-apiserver, and on Windows APIs as Wine has them
([lab](windows-lab.md)). No release has been tested on Windows Server itself, on a cloud or on OpenShift yet.
`;
}

type Release = (typeof operatorReleases)[number];

function releaseRow({ operator, openshift, kubelet, kubernetes }: Release): string {
  const [major = '1', minor = '0'] = kubernetes.split('.');
  return `| ${operator} | ${openshift} | ${kubelet} | ${kubernetes} to ${major}.${Number(minor) + kubeletSkew} |`;
}

function windowsRow(version: (typeof windowsVersions)[number]): string {
  const { name, minimumUpdate, minimumReason, hasVxlanPort } = version;
  const minimum = minimumUpdate === 0 ? 'none' : `${buildText(version)}.${minimumUpdate}: ${minimumReason ?? ''}`;
  return `| ${name} | ${buildText(version)} | ${minimum} | ${hasVxlanPort ? 'yes' : 'no'} |`;
}

function platformRow([type, name]: [string, string]): string {
  const on = windowsVersionsOn(type);
  return `| ${name} | ${windowsVersions.map(version => (on.includes(version) ? 'yes' : 'no')).join(' | ')} |`;
}
