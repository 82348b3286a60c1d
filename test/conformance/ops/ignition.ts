import { parse, stringify } from 'yaml';
import { kubeletCa } from '../../../src/cluster/controller-config.ts';
import { latestRenderedWorker, readWorkerConfig } from '../../../src/cluster/ignition.ts';
import { readWorkerFiles } from '../../../src/cluster/ignition-files.ts';
import { kubeletArguments } from '../../../src/cluster/kubelet-unit.ts';
import { readObject } from '../../../src/contract/object.ts';
import { file } from '../../../src/contract/paths.ts';
import { filesForWindows, renameCredentialProviders } from '../../../src/node/desired/cloud.ts';
import type { Input, Operation, Row } from '../row.ts';

export const ops: Record<string, Operation> = {
  kubeletArguments: (input: Input) => ({ arguments: kubeletArguments(input.unit) }),
  latestRenderedWorker: (input: Input) => {
    const configs = input.machineConfigs.map((item: Input) => ({ ...item, hasConfig: item.hasRawConfig }));
    return { name: latestRenderedWorker(configs).name };
  },
  kubeletCA: (input: Input) => ({
    value: kubeletCa(input.controllerConfigs.map((item: Input) => ({ kubeletCa: item.kubeAPIServerServingCAData }))),
  }),
  filesForWindows: (input: Input) => {
    const workerFiles = readWorkerFiles(readWorkerConfig(machineConfig(input.ignitionFiles)), input.kubeletArguments);
    const { [file.credentialProviderConfig]: yaml, ...files } = filesForWindows(input.kubeletArguments, workerFiles);
    const text = yaml === undefined ? '' : flat(parse(yaml), file.credentialProviderConfig).join('\n');
    return { files: { ...files, [file.kubeletCa]: input.kubeletCA }, text };
  },
  credentialProviderNames: (input: Input) => parse(renameCredentialProviders(stringify(input))),
};

/** A row has some members of a YAML file; they must be among ours. */
export function expected(row: Row): Record<string, unknown> {
  const { yamlFiles, ...rest } = row.expected;
  if (yamlFiles === undefined) return rest;
  const lines = Object.entries(yamlFiles as Record<string, Record<string, unknown>>).flatMap(([path, members]) =>
    Object.entries(members).map(([member, value]) => `${path} ${member}=${JSON.stringify(value)}`),
  );
  return { ...rest, contains: lines };
}

function machineConfig(ignitionFiles: Input) {
  const files = (ignitionFiles ?? []).map(({ path, ...contents }: Input) => ({ path, contents }));
  return readObject({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name: 'rendered-worker-row' },
    spec: { config: { ignition: { version: '3.5.0' }, storage: { files } } },
  });
}

/** `<file> providers[0].name="x"`: every value of a YAML file with its path. */
function flat(value: unknown, file: string, path = ''): string[] {
  const line = `${file} ${path}=${JSON.stringify(value)}`;
  if (Array.isArray(value)) return [line, ...value.flatMap((item, index) => flat(item, file, `${path}[${index}]`))];
  if (typeof value !== 'object' || value === null) return [line];
  const members = Object.entries(value);
  return [line, ...members.flatMap(([name, item]) => flat(item, file, path === '' ? name : `${path}.${name}`))];
}
