import { Secret } from '../../../src/base/secret.ts';
import { readObject } from '../../../src/contract/object.ts';
import { registryFiles } from '../../../src/node/desired/registries/registries.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  mirrorSetsFromObjects: (input: Input) => {
    const objects = [
      ...mirrorSets('ImageDigestMirrorSet', 'imageDigestMirrors', input.imageDigestMirrorSets),
      ...mirrorSets('ImageTagMirrorSet', 'imageTagMirrors', input.imageTagMirrorSets),
    ];
    const { sets, files } = registryFiles(objects, pullSecret(input.pullSecretDockerConfigJson));
    const [first] = sets;
    return {
      mergedSets: sets,
      files,
      sourcePolicy: first?.sourcePolicy,
      sourceContacted: Object.values(files).some(text => text.startsWith(`server = "https://${first?.source}/`)),
    };
  },
};

function mirrorSets(kind: string, member: string, lists: Input[] | undefined) {
  return (lists ?? []).map((entries, index) =>
    readObject({
      apiVersion: 'config.openshift.io/v1',
      kind,
      metadata: { name: `set-${index + 1}` },
      spec: { [member]: entries },
    }),
  );
}

function pullSecret(config: Input): Secret | undefined {
  if (config === undefined || config === null) return undefined;
  return new Secret(typeof config === 'string' ? config : JSON.stringify(config));
}
